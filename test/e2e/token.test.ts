/**
 * A token of ours at the door of a real API server, checked by the authenticator that EKS runs.
 *
 * Behind it stands an STS that signs each request anew, as the real one does: what was changed on the way is refused by
 * whoever sees it first, the verifier without asking STS, or STS.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectToEndpoint } from '../../lib/adapters/kubernetes/connection.ts';
import { EksTokens } from '../../lib/adapters/kubernetes/eks-credentials.ts';
import { nodePool } from '../contract/manifests.ts';
import { Hand } from '../contract/operators-hand.ts';
import { placeholderSettings } from '../contract/place.ts';
import { adapterOn } from '../contract/simulated-places.ts';
import { isTokenOf } from '../support/sts-token.ts';
import { type ControlPlane, startControlPlane } from './harness/control-plane.ts';
import { eventually } from './support/eventually.ts';
import { kubernetesUnderTest } from './support/kubernetes-under-test.ts';

const cluster = 'production';
const region = 'eu-west-1';
const account = '123456789012';
/** Access key → the role behind it. */
const roles: Readonly<Record<string, string>> = {
  AKIAROTATION: 'node-rotation',
  AKIASOMEBODY: 'somebody',
  AKIANEWCOMER: 'newcomer',
};
const secrets = { secretAccessKey: 'secret', sessionToken: 'session/token+==' };

/** What each request to STS was signed for, as it came, and the answer. */
const asked: { readonly host: string | undefined; readonly cluster: unknown; readonly code: number }[] = [];
let sts: Server;
let plane: ControlPlane;

beforeAll(async () => {
  sts = createServer(({ url = '', headers }, response) => {
    const { host, 'x-k8s-aws-id': signedFor } = headers;
    const key = new URL(url, 'https://sts').searchParams.get('X-Amz-Credential')?.split('/')[0] ?? '';
    const role = roles[key];
    const token = `k8s-aws-v1.${Buffer.from(`https://${host}${url}`).toString('base64url')}`;
    const known = role !== undefined && isTokenOf(token, String(signedFor), { accessKeyId: key, ...secrets });
    asked.push({ host, cluster: signedFor, code: known ? 200 : 403 });
    if (!known) return void response.writeHead(403).end('<ErrorResponse/>');
    response.writeHead(200, { 'content-type': 'text/xml' }).end(
      `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
         <Arn>arn:aws:sts::${account}:assumed-role/${role}/session</Arn><UserId>AROAEXAMPLE:session</UserId>
         <Account>${account}</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`,
    );
  });
  await new Promise<void>((resolve) => sts.listen(0, '127.0.0.1', resolve));
  plane = await startControlPlane({
    kubernetes: kubernetesUnderTest(),
    karpenter: false,
    tokenWebhook: {
      cluster,
      region,
      sts: `http://127.0.0.1:${(sts.address() as AddressInfo).port}`,
      entries: {
        [`arn:aws:iam::${account}:role/node-rotation`]: ['node-rotation'],
        [`arn:aws:iam::${account}:role/newcomer`]: ['newcomers'],
      },
    },
  });
});

afterAll(async () => {
  await plane?.stop();
  sts?.close();
});

/** Asks with that token. */
async function ask(token: string, path: string): Promise<{ readonly code: number; readonly message: unknown }> {
  const { server, authority } = plane.accesses.admin;
  const hand = new Hand({ server, authority, token });
  const { code, body } = await hand.call('GET', path);
  hand.close();
  return { code, message: body.message };
}

interface Signing {
  readonly accessKeyId?: string;
  readonly secretAccessKey?: string;
  readonly clusterName?: string;
  readonly region?: string;
  /** Minutes from now. */
  readonly at?: number;
}
const minute = 60_000;
function tokenOf(signing: Signing = {}): Promise<string> {
  const { accessKeyId = 'AKIAROTATION', clusterName = cluster, at = 0, ...others } = signing;
  const credentials = { accessKeyId, ...secrets, secretAccessKey: others.secretAccessKey ?? secrets.secretAccessKey };
  return new EksTokens({
    clusterName,
    region: others.region ?? region,
    credentials: async () => credentials,
    now: () => Date.now() + at * minute,
  }).token();
}

const prefix = 'k8s-aws-v1.';
/** A token of ours whose URL was changed by somebody. */
async function changed(change: (url: URL) => string | undefined): Promise<string> {
  const url = new URL(Buffer.from((await tokenOf()).slice(prefix.length), 'base64url').toString());
  return prefix + Buffer.from(change(url) ?? url.href).toString('base64url');
}
const withParameter = (name: string, to: (value: string) => string): Promise<string> =>
  changed((url) => void url.searchParams.set(name, to(url.searchParams.get(name) ?? '')));

const nodePools = '/apis/karpenter.sh/v1/nodepools';
const arnOf = (role: string): string => `arn:aws:sts::${account}:assumed-role/${role}/session`;

describe('a token of ours', () => {
  test('lets the role of an access entry in, with the rights of its group and no others (D9-01, D9-04)', async () => {
    const token = await tokenOf();
    expect(await ask(token, nodePools)).toEqual({ code: 200, message: undefined });
    expect(await ask(token, '/api/v1/secrets')).toEqual({
      code: 403,
      message: `secrets is forbidden: User "${arnOf('node-rotation')}" cannot list resource "secrets" in API group "" at the cluster scope`,
    });
    expect(asked).toContainEqual({ host: `sts.${region}.amazonaws.com`, cluster, code: 200 });
  });

  test('is good for as long as we keep it: fourteen minutes (D9-01, PR-99)', async () => {
    expect(await ask(await tokenOf({ at: -14 }), nodePools)).toEqual({ code: 200, message: undefined });
  });

  test.each<[string, () => Promise<string>, 'verifier' | 'STS' | 'access entries']>([
    ['of a role without an access entry', () => tokenOf({ accessKeyId: 'AKIASOMEBODY' }), 'access entries'],
    ['of keys that nobody has', () => tokenOf({ accessKeyId: 'AKIANOBODY' }), 'STS'],
    ['signed with another secret', () => tokenOf({ secretAccessKey: 'guess' }), 'STS'],
    ['for another cluster', () => tokenOf({ clusterName: 'staging' }), 'STS'],
    ['for the same name in other letters', () => tokenOf({ clusterName: 'Production' }), 'STS'],
    ['signed 16 minutes ago', () => tokenOf({ at: -16 }), 'verifier'],
    ['signed 16 minutes ahead', () => tokenOf({ at: 16 }), 'STS'],
    ['of another partition', () => tokenOf({ region: 'cn-north-1' }), 'verifier'],
    ['with another signature', () => withParameter('X-Amz-Signature', flipped), 'STS'],
    [
      'with somebody else’s key',
      () => withParameter('X-Amz-Credential', (it) => it.replace('ROTATION', 'NEWCOMER')),
      'STS',
    ],
    ['with another session', () => withParameter('X-Amz-Security-Token', () => 'another'), 'STS'],
    ['with a longer expiry', () => withParameter('X-Amz-Expires', () => '900'), 'STS'],
    ['with an expiry beyond all bounds', () => withParameter('X-Amz-Expires', () => '86400'), 'verifier'],
    ['for another action', () => withParameter('Action', () => 'GetSessionToken'), 'verifier'],
    ['with one more parameter', () => withParameter('DurationSeconds', () => '900'), 'verifier'],
    ['that does not sign the cluster', () => withParameter('X-Amz-SignedHeaders', () => 'host'), 'verifier'],
    ['for another host', () => changed(({ href }) => href.replace('sts.', 'sts.evil.')), 'verifier'],
    [
      'for a host that begins like STS',
      () => changed(({ href }) => href.replace('.com/', '.com.evil.example/')),
      'verifier',
    ],
    ['for a host behind a name', () => changed(({ href }) => href.replace('.com/', '.com@evil.example/')), 'verifier'],
    ['for another path', () => changed(({ href }) => href.replace('.com/', '.com/other')), 'verifier'],
    ['without TLS', () => changed(({ href }) => href.replace('https:', 'http:')), 'verifier'],
    ['of another version', async () => (await tokenOf()).replace('v1', 'v2'), 'verifier'],
    ['with padding', async () => `${await tokenOf()}=`, 'verifier'],
    ['that is none', async () => `${prefix}garbage`, 'verifier'],
    ['that is nothing but its beginning', async () => prefix, 'verifier'],
    ['longer than any', () => withParameter('X-Amz-Security-Token', () => 'x'.repeat(4_096)), 'verifier'],
  ])('%s is refused (D9-01)', async (_, token, refusedBy) => {
    const before = asked.length;
    expect(await ask(await token(), nodePools)).toEqual({ code: 401, message: 'Unauthorized' });
    const answers = asked.slice(before).map(({ code }) => code);
    expect(answers).toEqual({ verifier: [], STS: [403], 'access entries': [200] }[refusedBy]);
  });

  test('of a role whose group has no rights is known by its ARN and may nothing, until the group is bound (D9-04, D9-05)', async () => {
    const token = await tokenOf({ accessKeyId: 'AKIANEWCOMER' });
    const refused = {
      code: 403,
      message: `nodepools.karpenter.sh is forbidden: User "${arnOf('newcomer')}" cannot list resource "nodepools" in API group "karpenter.sh" at the cluster scope`,
    };
    const comesTo = (wanted: number): Promise<unknown> =>
      eventually(`an answer of ${wanted}`, 10_000, async () => {
        const answer = await ask(token, nodePools);
        return answer.code === wanted ? answer : undefined;
      });
    expect(await ask(token, nodePools)).toEqual(refused);
    const group = 'rbac.authorization.k8s.io';
    await plane.api.apply({
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'newcomers' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'node-rotation' },
      subjects: [{ apiGroup: group, kind: 'Group', name: 'newcomers' }],
    });
    expect(await comesTo(200)).toEqual({ code: 200, message: undefined });
    await plane.api.delete(`/apis/${group}/v1/clusterrolebindings/newcomers`);
    expect(await comesTo(403)).toEqual(refused);
  });
});

const flipped = (signature: string): string => signature.replace(/.$/, (last) => (last === '0' ? '1' : '0'));

test('a tick comes in by address, authority and token alone, with a new token where the first was too old (D9-01, D9-03)', async () => {
  const { server, authority } = plane.accesses.admin;
  await plane.api.apply(nodePool('api') as never);
  let asks = 0;
  const tokens = new EksTokens({
    clusterName: cluster,
    region,
    credentials: async () => ({ accessKeyId: 'AKIAROTATION', ...secrets }),
    // A machine that wakes up with its clock behind.
    now: () => Date.now() - (asks++ === 0 ? 20 * minute : 0),
  });
  const address = { name: cluster, endpoint: server, certificateAuthority: Buffer.from(authority).toString('base64') };
  const connection = connectToEndpoint(address, tokens);
  try {
    const { nodePools: seen } = await adapterOn(connection, placeholderSettings()).observe();
    expect(seen.map(({ meta }) => meta.name)).toEqual(['api']);
    expect(asks).toBeGreaterThan(1);
  } finally {
    connection.close();
  }
});
