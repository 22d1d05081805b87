/**
 * Bearer tokens of an EKS cluster: a signed request to STS, which the cluster's control plane sends on to learn who we are.
 *
 * Signing is local; no request is made here. A token is good for fifteen minutes from its signing date, whatever its
 * expiry parameter says, and never longer than the credentials it was signed with.
 */
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import type { BearerTokens } from './connection.ts';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

export interface EksIdentity {
  readonly clusterName: string;
  readonly region: string;
  /** Asked anew for every token, so that rotated credentials are seen. */
  readonly credentials: () => Promise<AwsCredentials>;
  /** Milliseconds since the epoch; the machine's clock unless a test says otherwise. */
  readonly now?: () => number;
}

const prefix = 'k8s-aws-v1.';
const minute = 60_000;
const lifetime = 14 * minute;
/** What the verifier accepts at most; long session tokens can lead beyond it. */
const longestToken = 4096;

/** @design D9-01 */
export class EksTokens implements BearerTokens {
  readonly #identity: EksIdentity;
  #made: { readonly token: string; readonly goodUntil: number } | undefined;

  constructor(identity: EksIdentity) {
    this.#identity = identity;
  }

  async token(): Promise<string> {
    if (this.#made !== undefined && this.#now() < this.#made.goodUntil) return this.#made.token;
    return await this.#make();
  }

  async renew(refused: string): Promise<string> {
    if (this.#made !== undefined && this.#made.token !== refused) return await this.token();
    return await this.#make();
  }

  #now(): number {
    return this.#identity.now?.() ?? Date.now();
  }

  async #make(): Promise<string> {
    const { clusterName, region, credentials } = this.#identity;
    const signedWith = await credentials();
    const at = this.#now();
    const token = await eksToken(clusterName, region, signedWith, new Date(at));
    const credentialsEnd = signedWith.expiration === undefined ? Infinity : signedWith.expiration.getTime() - minute;
    this.#made = { token, goodUntil: Math.min(at + lifetime, credentialsEnd) };
    return token;
  }
}

/** @throws Error when the token would be longer than an EKS cluster accepts */
export async function eksToken(
  clusterName: string,
  region: string,
  credentials: AwsCredentials,
  at: Date,
): Promise<string> {
  const signer = new SignatureV4({ service: 'sts', region, credentials, sha256: Sha256, applyChecksum: false });
  const hostname = stsHost(region);
  const signed = await signer.presign(
    {
      method: 'GET',
      protocol: 'https:',
      hostname,
      path: '/',
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      headers: { host: hostname, 'x-k8s-aws-id': clusterName },
    },
    { expiresIn: 60, signingDate: at },
  );
  const url = `https://${hostname}/?${queryText(signed.query ?? {})}`;
  const token = prefix + Buffer.from(url).toString('base64url');
  if (token.length > longestToken) {
    throw new Error(
      `the token for cluster ${clusterName} has ${token.length} characters, more than the ${longestToken} that EKS accepts: the session token is too long (fewer session tags make it shorter)`,
    );
  }
  return token;
}

// In the order in which the AWS tools write it: the signature last.
function queryText(query: Readonly<Record<string, string | readonly string[] | null>>): string {
  const text = (name: string): string => `${encode(name)}=${encode(String(query[name]))}`;
  const names = Object.keys(query).filter((name) => name !== 'X-Amz-Signature');
  return [...names.sort(), 'X-Amz-Signature'].map(text).join('&');
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

const domains: readonly (readonly [RegExp, string])[] = [
  [/^cn-/, 'amazonaws.com.cn'],
  [/^us-iso-/, 'c2s.ic.gov'],
  [/^us-isob-/, 'sc2s.sgov.gov'],
  [/^us-isof-/, 'csp.hci.ic.gov'],
  [/^eu-isoe-/, 'cloud.adc-e.uk'],
  [/^eusc-/, 'amazonaws.eu'],
];

/** The regional STS host of the region's partition. */
export const stsHost = (region: string): string =>
  `sts.${region}.${domains.find(([form]) => form.test(region))?.[1] ?? 'amazonaws.com'}`;
