/**
 * A certificate authority for one control plane, and what it signs: the servers' certificate and the clients'.
 *
 * Kubernetes reads who a client is from its certificate: the common name is the user, each organization is a group.
 */
// The X.509 library registers its classes through this polyfill, which has to be loaded first.
import 'reflect-metadata';
import { generateKeyPairSync, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const hour = 3_600_000;

export interface Pair {
  /** PEM. */
  readonly certificate: string;
  /** PEM (PKCS #8). */
  readonly key: string;
}

export interface Client {
  readonly user: string;
  readonly group: string;
}

export interface Authority {
  /** PEM. */
  readonly certificate: string;
  /** For 127.0.0.1, localhost and the API server's own service address. */
  server(): Promise<Pair>;
  client(client: Client): Promise<Pair>;
}

/** Valid from an hour ago for a day: longer than any control plane of a test lives. */
export async function makeAuthority(now: Date): Promise<Authority> {
  const validity = { notBefore: new Date(now.getTime() - hour), notAfter: new Date(now.getTime() + 24 * hour) };
  const keys = await newKeys();
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=node-rotation end-to-end authority',
    ...validity,
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  let serial = 1;
  const issue = async (subject: x509.JsonName, extensions: readonly x509.Extension[]): Promise<Pair> => {
    serial += 1;
    const own = await newKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serial.toString(16).padStart(2, '0'),
      subject,
      issuer: authority.subject,
      ...validity,
      publicKey: own.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
        ...extensions,
      ],
    });
    const key = await webcrypto.subtle.exportKey('pkcs8', own.privateKey);
    return { certificate: certificate.toString('pem'), key: x509.PemConverter.encode(key, 'PRIVATE KEY') };
  };
  return {
    certificate: authority.toString('pem'),
    server: () =>
      issue(
        [{ CN: ['kube-apiserver'] }],
        [
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
          new x509.SubjectAlternativeNameExtension([
            { type: 'dns', value: 'localhost' },
            { type: 'ip', value: '127.0.0.1' },
            { type: 'ip', value: '10.0.0.1' },
          ]),
        ],
      ),
    client: ({ user, group }) =>
      issue([{ O: [group] }, { CN: [user] }], [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])]),
  };
}

/** The pair of PEM keys with which the API server signs and checks service account tokens. */
export function makeServiceAccountKeys(): { readonly publicKey: string; readonly privateKey: string } {
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}

const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
