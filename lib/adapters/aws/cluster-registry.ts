/**
 * The clusters that are ticked: what identifies one, and how it is reached.
 */
import * as z from 'zod';

const name = z.string().regex(/^[0-9A-Za-z][\w-]{0,99}$/, 'expected the name of an EKS cluster');
const account = z.string().regex(/^\d{12}$/, 'expected an account id of 12 digits');
const region = z.string().regex(/^[a-z]{2,}(-[a-z]+)+-\d+$/, 'expected a region such as ap-northeast-1');
const endpoint = z.string().regex(/^https:\/\/[^\s/]+/, 'expected an https address');
const certificateAuthority = z.base64('expected the base64 of a PEM certificate').min(1);

export const clusterTargetSchema = z.strictObject({
  account,
  region,
  name,
  endpoint,
  certificateAuthority,
  /** It left the configuration: what is in flight is ended, nothing starts. */
  retired: z.boolean().optional(),
});

/** A cluster with everything that a tick needs to reach it. @design D9-02, D9-03 */
export type ClusterTarget = z.output<typeof clusterTargetSchema>;

/** `account/region/name`. @design D1-01 */
export const clusterKey = (cluster: Pick<ClusterTarget, 'account' | 'region' | 'name'>): string =>
  `${cluster.account}/${cluster.region}/${cluster.name}`;

export type ClustersReading =
  | { readonly valid: true; readonly clusters: readonly ClusterTarget[] }
  | { readonly valid: false; readonly problems: readonly { readonly path: string; readonly problem: string }[] };

/** Reads a configured list of clusters and names every problem in it. @design D9-03 */
export function readClusters(json: unknown): ClustersReading {
  const result = z.array(clusterTargetSchema).safeParse(json);
  if (!result.success) {
    const problems = result.error.issues.map(({ path, message }) => ({ path: path.join('.'), problem: message }));
    return { valid: false, problems };
  }
  const keys = result.data.map(clusterKey);
  const twice = keys.filter((key, index) => keys.indexOf(key) !== index);
  if (twice.length > 0) {
    return { valid: false, problems: twice.map((key) => ({ path: key, problem: 'this cluster is listed twice' })) };
  }
  return { valid: true, clusters: result.data };
}
