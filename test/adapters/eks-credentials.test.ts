import { expect, test } from 'vitest';
import { type AwsCredentials, EksTokens, eksToken, stsHost } from '../../lib/adapters/kubernetes/eks-credentials.ts';

// The published test vector of aws-iam-authenticator: example credentials that never were valid.
const published: AwsCredentials = {
  accessKeyId: Buffer.from('QVNJQVIyVEc0NFY2QVMzWlpFN0M=', 'base64').toString(),
  secretAccessKey: Buffer.from('NEtENWNudEdjVm1MV1JkRjV3dk5SdXpOTDVReG1wNk9LVlk2RnovUQ==', 'base64').toString(),
};
const publishedUrl =
  'https://sts.us-west-2.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256' +
  '&X-Amz-Credential=ASIAR2TG44V6AS3ZZE7C%2F20230428%2Fus-west-2%2Fsts%2Faws4_request&X-Amz-Date=20230428T000000Z' +
  '&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id' +
  '&X-Amz-Signature=e211dba77aba9dc44b0b6be38b8eaad092599c5157f6314444c5b9d85747f5ce';

const example: AwsCredentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'secret',
  sessionToken: 'session/token+==',
};

const decodedUrl = (token: string): URL =>
  new URL(Buffer.from(token.replace(/^k8s-aws-v1\./, ''), 'base64url').toString());

test('the token is the published one of aws-iam-authenticator, byte for byte (D9-01, PR-100)', async () => {
  const token = await eksToken('test-cluster', 'us-west-2', published, new Date(1_682_640_000_000));
  expect(decodedUrl(token).href).toBe(publishedUrl);
  expect(token).toBe(`k8s-aws-v1.${Buffer.from(publishedUrl).toString('base64url')}`);
});

test('the token is regional, short-lived, bound to the cluster and unpadded (PR-100)', async () => {
  const token = await eksToken('prod', 'ap-northeast-1', example, new Date('2026-06-09T17:00:00Z'));
  const url = decodedUrl(token);
  expect(url.host).toBe('sts.ap-northeast-1.amazonaws.com');
  expect(url.pathname).toBe('/');
  expect(url.searchParams.get('X-Amz-Expires')).toBe('60');
  expect(url.searchParams.get('X-Amz-SignedHeaders')).toBe('host;x-k8s-aws-id');
  expect(url.searchParams.get('X-Amz-Security-Token')).toBe('session/token+==');
  expect(url.searchParams.get('X-Amz-Date')).toBe('20260609T170000Z');
  expect(token).toMatch(/^k8s-aws-v1\.[\w-]+$/);
});

test('a verifier finds only the parameters it knows, each once (PR-100)', async () => {
  const token = await eksToken('prod', 'ap-northeast-1', example, new Date('2026-06-09T17:00:00Z'));
  const names = [...decodedUrl(token).searchParams.keys()].map((name) => name.toLowerCase());
  const known =
    'action version x-amz-algorithm x-amz-credential x-amz-date x-amz-expires x-amz-security-token x-amz-signature x-amz-signedheaders';
  expect(names.toSorted()).toEqual(known.split(' '));
});

test.each([
  ['ap-northeast-1', 'sts.ap-northeast-1.amazonaws.com'],
  ['cn-north-1', 'sts.cn-north-1.amazonaws.com.cn'],
  ['us-gov-west-1', 'sts.us-gov-west-1.amazonaws.com'],
  ['us-iso-east-1', 'sts.us-iso-east-1.c2s.ic.gov'],
  ['us-isob-east-1', 'sts.us-isob-east-1.sc2s.sgov.gov'],
  ['eusc-de-east-1', 'sts.eusc-de-east-1.amazonaws.eu'],
])('the host of %s is that of its partition (PR-100, D9-01)', (region, host) => {
  expect(stsHost(region)).toBe(host);
});

test('a token longer than EKS accepts is an error that names the cluster (D9-01)', async () => {
  const long = { ...example, sessionToken: 'x'.repeat(3_000) };
  await expect(eksToken('prod', 'ap-northeast-1', long, new Date())).rejects.toThrow(/cluster prod .* 4096/);
});

function tokensAt(expiration?: Date): { tokens: EksTokens; clock: { now: number }; asked: () => number } {
  const clock = { now: Date.parse('2026-06-09T17:00:00Z') };
  let asked = 0;
  const tokens = new EksTokens({
    clusterName: 'prod',
    region: 'ap-northeast-1',
    credentials: async () => {
      asked += 1;
      return expiration === undefined ? example : { ...example, expiration };
    },
    now: () => clock.now,
  });
  return { tokens, clock, asked: () => asked };
}

const minute = 60_000;

test('nothing is signed before a token is asked for, and then with the time of asking (PR-101, D1-07)', async () => {
  const { tokens, clock, asked } = tokensAt();
  expect(asked()).toBe(0);
  clock.now += 20 * minute;
  expect(decodedUrl(await tokens.token()).searchParams.get('X-Amz-Date')).toBe('20260609T172000Z');
});

test.each([
  [13.9, 1],
  [14, 2],
  [14.5, 2],
])('a token asked for %d minutes later has been made %d times (PR-99, D9-01)', async (later, made) => {
  const { tokens, clock, asked } = tokensAt();
  await tokens.token();
  clock.now += later * minute;
  await tokens.token();
  expect(asked()).toBe(made);
});

test('a token does not outlive the credentials it was signed with (D9-01)', async () => {
  const { tokens, clock, asked } = tokensAt(new Date('2026-06-09T17:05:00Z'));
  await tokens.token();
  clock.now += 3.9 * minute;
  await tokens.token();
  expect(asked()).toBe(1);
  clock.now += 0.1 * minute;
  await tokens.token();
  expect(asked()).toBe(2);
});

test('requests refused together share one new token (PR-99)', async () => {
  const { tokens, clock, asked } = tokensAt();
  const refused = await tokens.token();
  clock.now += 1_000;
  const renewed = await tokens.renew(refused);
  expect(renewed).not.toBe(refused);
  expect(await tokens.renew(refused)).toBe(renewed);
  expect(asked()).toBe(2);
});
