/**
 * A token of ours at the door of a real API server, checked by the authenticator that EKS runs.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EksTokens } from '../../lib/adapters/kubernetes/eks-credentials.ts';
import { Hand } from '../contract/operators-hand.ts';
import { type ControlPlane, startControlPlane } from './harness/control-plane.ts';
import { kubernetesUnderTest } from './support/kubernetes-under-test.ts';

const cluster = 'production';
const region = 'eu-west-1';
const account = '123456789012';
/** Access key → the role behind it. */
const roles: Readonly<Record<string, string>> = { AKIAROTATION: 'node-rotation', AKIASOMEBODY: 'somebody' };

/** What each request to STS was signed for, as it came. */
const asked: { readonly host: string | undefined; readonly cluster: string | string[] | undefined }[] = [];
let sts: Server;
let plane: ControlPlane;

beforeAll(async () => {
  sts = createServer(({ url = '', headers }, response) => {
    asked.push({ host: headers.host, cluster: headers['x-k8s-aws-id'] });
    const key = new URL(url, 'https://sts').searchParams.get('X-Amz-Credential')?.split('/')[0] ?? '';
    const role = roles[key];
    if (role === undefined) return void response.writeHead(403).end('<ErrorResponse/>');
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
      entries: { [`arn:aws:iam::${account}:role/node-rotation`]: ['node-rotation'] },
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

const tokenOf = (accessKeyId: string): Promise<string> =>
  new EksTokens({
    clusterName: cluster,
    region,
    credentials: async () => ({ accessKeyId, secretAccessKey: 'secret', sessionToken: 'session' }),
  }).token();

describe('a token of ours', () => {
  test('lets the role of an access entry in, with the rights of its group and no others (D9-01, D9-04)', async () => {
    const token = await tokenOf('AKIAROTATION');
    expect(await ask(token, '/apis/karpenter.sh/v1/nodepools')).toEqual({ code: 200, message: undefined });
    expect(await ask(token, '/api/v1/secrets')).toEqual({
      code: 403,
      message: `secrets is forbidden: User "arn:aws:sts::${account}:assumed-role/node-rotation/session" cannot list resource "secrets" in API group "" at the cluster scope`,
    });
    expect(asked).toContainEqual({ host: `sts.${region}.amazonaws.com`, cluster });
  });

  test.each([
    ['of a role without an access entry', () => tokenOf('AKIASOMEBODY')],
    ['that STS refuses', () => tokenOf('AKIANOBODY')],
    ['that is none', async () => 'k8s-aws-v1.garbage'],
  ])('%s is refused (D9-01)', async (_, token) => {
    expect(await ask(await token(), '/apis/karpenter.sh/v1/nodepools')).toEqual({ code: 401, message: 'Unauthorized' });
  });
});
