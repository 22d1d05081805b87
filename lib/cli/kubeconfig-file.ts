/**
 * A kubeconfig for the embedded API server, readable by its owner only.
 */
import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';

export interface ServerAccess {
  readonly name: string;
  /** `https://127.0.0.1:…` */
  readonly server: string;
  /** PEM of the authority behind the server's certificate. */
  readonly authority: string;
  readonly token: string;
}

/** The document that kubectl and every client library read. */
export function kubeconfigFor({ name, server, authority, token }: ServerAccess): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': Buffer.from(authority).toString('base64') } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}

export const writeKubeconfig = (file: string, access: ServerAccess): void =>
  writeFileSync(file, kubeconfigFor(access), { mode: 0o600 });
