/**
 * The simulated cluster as a place under contract, reached in process or through its HTTPS face.
 *
 * The operator's hand is at the HTTPS face in both: whatever the port is, what stands in the store is looked at as JSON.
 */
import { type Connection, connectToEndpoint } from '../../lib/adapters/kubernetes/connection.ts';
import { KubernetesCluster } from '../../lib/adapters/kubernetes/kubernetes-cluster.ts';
import { policyCrd } from '../../lib/adapters/kubernetes/policy-crd.ts';
import { TickBudget } from '../../lib/adapters/kubernetes/tick-budget.ts';
import type { Cluster } from '../../lib/controller/ports.ts';
import type { PlaceholderSettings } from '../../lib/domain/cluster/snapshot.ts';
import { ApiServer } from '../../lib/simulator/api-server.ts';
import { type FaultPlan, noFaults } from '../../lib/simulator/faults.ts';
import { SimulatedCluster } from '../../lib/simulator/simulated-cluster.ts';
import { World } from '../../lib/simulator/world.ts';
import { at } from '../support/builders.ts';
import { decoders } from '../support/decoders.ts';
import { makeCertificate } from '../support/https-fake.ts';
import { Hand } from './operators-hand.ts';
import { furnish, type Place, placeholderSettings } from './place.ts';

const token = 'operator';
const mayOnlyLook: FaultPlan = { next: ({ verb }) => (verb === 'get' || verb === 'list' ? undefined : 'forbidden') };
const mayNothing: FaultPlan = { next: () => 'forbidden' };

/** The simulator's own implementation of the port. */
export async function inProcess(): Promise<Place> {
  const { world, hand, settings, stop } = await simulated();
  const cluster = (faults: FaultPlan): Cluster => new SimulatedCluster({ world, decoders, settings, faults });
  return {
    hand,
    settings,
    cluster: () => cluster(noFaults),
    reader: () => cluster(mayOnlyLook),
    stranger: () => cluster(mayNothing),
    stop,
  };
}

/** The product's adapter for Kubernetes, over the wire. */
export async function overHttps(): Promise<Place> {
  const { hand, settings, server, stop } = await simulated();
  const doors = await Promise.all([server(noFaults), server(mayOnlyLook), server(mayNothing)]);
  const [full, reading, none] = doors.map(
    ({ connection }) =>
      () =>
        adapterOn(connection, settings),
  );
  return {
    hand,
    settings,
    cluster: full as () => Cluster,
    reader: reading as () => Cluster,
    stranger: none as () => Cluster,
    stop: async () => {
      for (const { connection } of doors) connection.close();
      await stop();
    },
  };
}

/** The product's adapter as one tick has it. */
export const adapterOn = (connection: Connection, settings: PlaceholderSettings): Cluster =>
  new KubernetesCluster({
    connection,
    budget: new TickBudget({ toBegin: 40_000, toEnd: 47_000 }),
    instance: '123456789012/ap-northeast-1/contract',
    settings,
    retired: false,
  });

/** A world in which no time passes, so that nobody but the test changes anything. */
async function simulated() {
  const world = new World({ startsAt: at('2026-06-09T17:00:00Z') });
  for (const name of ['default', 'kube-system']) world.store.adopt({ kind: 'Namespace', metadata: { name } });
  const { cert, key } = await makeCertificate();
  const servers: ApiServer[] = [];
  const serve = async (faults: FaultPlan): Promise<string> => {
    const options = { store: world.store, now: () => world.now, certificate: cert, privateKey: key, token, faults };
    const server = new ApiServer(options);
    servers.push(server);
    return await server.start();
  };
  const hand = new Hand({ server: await serve(noFaults), authority: cert, token });
  const settings = placeholderSettings();
  await hand.ensure(policyCrd());
  await furnish(hand, settings);
  return {
    world,
    hand,
    settings,
    server: async (faults: FaultPlan) => {
      const address = {
        name: 'contract',
        endpoint: await serve(faults),
        certificateAuthority: Buffer.from(cert).toString('base64'),
      };
      const tokens = { token: async () => token, renew: async () => token };
      return { connection: connectToEndpoint(address, tokens) };
    },
    stop: async () => {
      hand.close();
      for (const server of servers) await server.stop();
    },
  };
}
