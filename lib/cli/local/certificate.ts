/**
 * A certificate authority and one serving certificate, made in memory for an API server on this machine.
 *
 * The authority's key is forgotten at once: it signs a single certificate, so whoever trusts it trusts nothing else.
 */
// The X.509 library registers its classes through this polyfill, which has to be loaded first.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

export interface ServingCertificate {
  /** PEM of the authority that a client has to trust. */
  readonly authority: string;
  /** PEM of the server's certificate. */
  readonly certificate: string;
  /** PEM (PKCS #8) of the server's key. */
  readonly key: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const lifetimeDays = 30;

/** A certificate for 127.0.0.1, ::1 and localhost, valid from an hour ago for 30 days. */
export async function makeServingCertificate(now: Date): Promise<ServingCertificate> {
  const notBefore = new Date(now.getTime() - 3_600_000);
  const notAfter = new Date(now.getTime() + lifetimeDays * 86_400_000);
  const authorityKeys = await newKeys();
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: 'CN=node-rotation local authority',
    notBefore,
    notAfter,
    keys: authorityKeys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  });
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: '02',
    subject: 'CN=node-rotation local API server',
    issuer: authority.subject,
    notBefore,
    notAfter,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
      ]),
      await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
  });
  const key = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    authority: authority.toString('pem'),
    certificate: certificate.toString('pem'),
    key: x509.PemConverter.encode(key, 'PRIVATE KEY'),
  };
}

const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
