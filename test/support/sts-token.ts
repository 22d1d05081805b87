/**
 * What an EKS control plane and STS do with a bearer token of a cluster: read the signed request in it, and sign it anew
 * with the caller's secret to see whether it is the caller's. Made of nothing but hashes, so it shares no mistake with
 * the code that made the token.
 */
import { createHash, createHmac } from 'node:crypto';

export interface Caller {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
}

const lifetime = 15 * 60_000;

/** Whether a token was made for this cluster by this caller, not more than fifteen minutes ago. */
export function isTokenOf(token: string, cluster: string, { accessKeyId, secretAccessKey, sessionToken }: Caller) {
  if (!token.startsWith('k8s-aws-v1.')) return false;
  const url = new URL(Buffer.from(token.slice('k8s-aws-v1.'.length), 'base64url').toString('utf8'));
  const value = (name: string): string => url.searchParams.get(name) ?? '';
  const [key, day = '', region = '', service = ''] = value('X-Amz-Credential').split('/');
  const date = value('X-Amz-Date');
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (key !== accessKeyId || value('X-Amz-Security-Token') !== sessionToken) return false;
  if (value('Action') !== 'GetCallerIdentity' || service !== 'sts') return false;
  if (!(Math.abs(Date.now() - at) < lifetime)) return false;

  const query = url.search.slice(1).split('&');
  const request = [
    'GET',
    '/',
    query
      .filter((part) => !part.startsWith('X-Amz-Signature='))
      .sort()
      .join('&'),
    `host:${url.host}`,
    `x-k8s-aws-id:${cluster}`,
    '',
    'host;x-k8s-aws-id',
    sha256(''),
  ].join('\n');
  const scope = [day, region, service, 'aws4_request'];
  const toSign = ['AWS4-HMAC-SHA256', date, scope.join('/'), sha256(request)].join('\n');
  const signingKey = scope.reduce<Buffer | string>((before, part) => hmac(before, part), `AWS4${secretAccessKey}`);
  return hmac(signingKey, toSign).toString('hex') === value('X-Amz-Signature');
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
