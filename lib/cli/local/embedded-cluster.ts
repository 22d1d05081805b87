/**
 * A Kubernetes cluster inside this process: the simulated world behind an HTTPS API with a certificate of its own.
 */
import { randomBytes } from 'node:crypto';
import type { ClusterTarget } from '../../adapters/aws/cluster-registry.ts';
import { type Connection, connectToEndpoint } from '../../adapters/kubernetes/connection.ts';
import type { Instant } from '../../domain/time.ts';
import { minutes, subtract } from '../../domain/time.ts';
import { ApiServer } from '../../simulator/api-server.ts';
import type { FaultPlan } from '../../simulator/faults.ts';
import { buildFleet, demonstrationFleet, type Fleet } from '../../simulator/fleet.ts';
import type { KindName } from '../../simulator/kinds.ts';
import { World } from '../../simulator/world.ts';
import type { ServerAccess } from '../kubeconfig-file.ts';
import { makeServingCertificate } from './certificate.ts';

export interface EmbeddedCluster {
  readonly world: World;
  /** As dispatch knows it. */
  readonly target: ClusterTarget;
  /** As kubectl knows it. */
  readonly access: ServerAccess;
  readonly connection: Connection;
  /** What goes wrong with requests from here on. */
  serverFaults(faults: FaultPlan): void;
  stop(): Promise<void>;
}

export interface EmbeddedClusterOptions {
  /** The instant at which the fleet is up and running. */
  readonly startsAt: Instant;
  readonly seed?: number;
  readonly fleet?: Fleet;
  /** Any free one when unset. */
  readonly port?: number;
  /** Kinds that it does not serve. */
  readonly absent?: readonly KindName[];
  /** Which bearer tokens it takes besides its own. */
  readonly accepts?: (token: string) => boolean;
}

const identity = { account: '000000000000', region: 'ap-northeast-1', name: 'demo' } as const;

/** @throws EADDRINUSE when the port is taken */
export async function startEmbeddedCluster(options: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  const { startsAt, seed = 1, fleet = demonstrationFleet, port = 0, absent = [], accepts } = options;
  const { authority, certificate, key } = await makeServingCertificate(new Date());
  const token = randomBytes(24).toString('base64url');
  const settling = minutes(1);
  const world = new World({ startsAt: subtract(startsAt, settling), seed });
  const server = new ApiServer({
    store: world.store,
    now: () => world.now,
    certificate,
    privateKey: key,
    token,
    absent,
    ...(accepts === undefined ? {} : { accepts }),
  });
  const url = await server.start(port);
  buildFleet(world, fleet);
  world.advance(startsAt);
  const target: ClusterTarget = {
    ...identity,
    endpoint: url,
    certificateAuthority: Buffer.from(authority).toString('base64'),
  };
  const connection = connectToEndpoint(target, { token: async () => token, renew: async () => token });
  return {
    world,
    target,
    access: { name: 'node-rotation-demo', server: url, authority, token },
    connection,
    serverFaults: (faults) => server.setFaults(faults),
    stop: async () => {
      connection.close();
      await server.stop();
    },
  };
}
