/**
 * A small HTTPS server for adapter tests: it answers by script and keeps what it was asked.
 */
import 'reflect-metadata';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { BasicConstraintsExtension, SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Parsed JSON; undefined without a body. */
  readonly body: unknown;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Instead of an answer: close the connection, or never answer; `cut` breaks off inside the body. */
  readonly instead?: 'reset' | 'hang' | 'cut';
}

/** @param nth how many requests came before this one, from 0 */
export type Script = (asked: Asked, nth: number) => Answer;

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A self-signed certificate for 127.0.0.1. */
export async function makeCertificate(): Promise<Certificate> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=test',
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + 86_400_000),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }]),
    ],
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const lines = pkcs8.match(/.{1,64}/g)?.join('\n') ?? '';
  return {
    cert: certificate.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
  };
}

export class HttpsFake {
  readonly asked: Asked[] = [];
  readonly certificateAuthority: string;
  script: Script = () => ({ status: 500 });
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(certificate: Certificate) {
    this.certificateAuthority = Buffer.from(certificate.cert).toString('base64');
    this.#server = createServer(certificate, (request, response) => void this.#serve(request, response));
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(certificate?: Certificate): Promise<HttpsFake> {
    const fake = new HttpsFake(certificate ?? (await makeCertificate()));
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    const asked: Asked = {
      method: request.method ?? '',
      path: pathname,
      query: searchParams,
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
    const answer = this.script(asked, this.asked.length);
    this.asked.push(asked);
    if (answer.instead === 'hang') return;
    if (answer.instead === 'reset') {
      request.socket.destroy();
      return;
    }
    const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {});
    const cut = answer.instead === 'cut';
    response.writeHead(answer.status ?? 200, {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      ...answer.headers,
    });
    if (cut) response.write(body.slice(0, Math.ceil(body.length / 2)), () => request.socket.destroy());
    else response.end(body);
  }
}

/** A Status as the API server writes one. */
export const statusBody = (code: number, reason: string, message: string, name?: string): unknown => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  code,
  reason,
  message,
  details: name === undefined ? {} : { name },
});
