/**
 * The cluster of a kubeconfig context, and the name under which the audit table knows it.
 */
import type { Command } from 'commander';
import type { Connection } from '../adapters/kubernetes/connection.ts';
import { connectToContext } from '../adapters/kubernetes/kubeconfig-connection.ts';

export interface ContextOptions {
  readonly context?: string;
  readonly kubeconfig?: string;
}

export const withContextOptions = (command: Command): Command =>
  command
    .option('--context <name>', 'kubeconfig context (default: the current one)')
    .option('--kubeconfig <file>', 'kubeconfig file (default: KUBECONFIG, then ~/.kube/config)');

/** @throws UnusableConnection when file or context lead nowhere */
export const connect = ({ context, kubeconfig }: ContextOptions): Connection =>
  connectToContext({
    ...(context === undefined ? {} : { context }),
    ...(kubeconfig === undefined ? {} : { file: kubeconfig }),
  });

/**
 * `account/region/name`, as a deployment calls it, where the context carries an EKS cluster's ARN; else a name made of
 * the server and the context.
 */
export function keyOfContext({ context, server }: Pick<Connection, 'context' | 'server'>): string {
  const arn = /^arn:aws[\w-]*:eks:([\w-]+):(\d{12}):cluster\/([\w-]+)$/.exec(context);
  return arn ? `${arn[2]}/${arn[1]}/${arn[3]}` : `kubeconfig/${server.host}/${context}`;
}
