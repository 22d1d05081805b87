/**
 * Signed requests to services of the emulator for which the project has no client: the alarm's state, the widget's
 * function, logs. Only tests make them.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import { type AwsEmulator, region } from './aws-emulator.ts';

interface Asked {
  readonly service: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

/** @returns the answer's text @throws Error for anything but 200 */
export async function askAws(emulator: AwsEmulator, { service, path = '/', headers = {}, body }: Asked) {
  const { host, hostname, port } = new URL(emulator.url);
  const signer = new SignatureV4({
    service,
    region,
    credentials: emulator.client.credentials,
    sha256: Sha256,
  });
  const signed = await signer.sign({
    method: 'POST',
    protocol: 'https:',
    hostname,
    port: Number(port),
    path,
    headers: { host, ...headers },
    body,
  });
  const { agent } = emulator;
  const outgoing = request(new URL(path, emulator.url), { method: 'POST', headers: signed.headers, agent });
  outgoing.end(body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  const answer = (await buffer(response)).toString();
  if (response.statusCode !== 200) {
    throw new Error(`${service} ${path} ${body.slice(0, 80)}: ${response.statusCode} ${answer}`);
  }
  return answer;
}

/** A call of the query protocol, such as CloudWatch's and CloudFormation's. */
export const askByQuery = (
  emulator: AwsEmulator,
  service: string,
  parameters: Readonly<Record<string, string>>,
): Promise<string> =>
  askAws(emulator, {
    service,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(parameters).toString(),
  });

/** Calls a function and waits for its answer. */
export const invoke = async (emulator: AwsEmulator, name: string, payload: unknown): Promise<unknown> =>
  JSON.parse(
    await askAws(emulator, {
      service: 'lambda',
      path: `/2015-03-31/functions/${name}/invocations`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(payload),
    }),
  );
