/**
 * A real API server as a place under contract: the third implementation, reached by the product's adapter.
 *
 * The adapter comes in as the group that `infra/kubernetes` knows, so the contract also holds its permissions.
 */
import { connectToContext } from '../../../lib/adapters/kubernetes/kubeconfig-connection.ts';
import { Hand } from '../../contract/operators-hand.ts';
import { furnish, type Place, type Provide, placeholderSettings } from '../../contract/place.ts';
import { adapterOn } from '../../contract/simulated-places.ts';
import { type ContextName, type ControlPlane, clients } from '../harness/control-plane.ts';

/** A place of its own on a server that all share. */
export const onServer =
  (plane: () => ControlPlane): Provide =>
  async (): Promise<Place> => {
    const { kubeconfig, accesses, api } = plane();
    const hand = new Hand(accesses.admin);
    const settings = placeholderSettings();
    await furnish(hand, settings);
    await allowPlaceholders(api, settings.namespace);
    const connections = (['node-rotation', 'reader', 'stranger'] as const satisfies ContextName[]).map((context) =>
      connectToContext({ file: kubeconfig, context }),
    );
    const [full, reading, none] = connections.map((connection) => () => adapterOn(connection, settings));
    if (!full || !reading || !none) throw new Error('a context is missing');
    return {
      hand,
      settings,
      cluster: full,
      reader: reading,
      stranger: none,
      stop: async () => {
        for (const connection of connections) connection.close();
        await hand.cleanUp();
        hand.close();
      },
    };
  };

/** What the manifests allow in the namespace `node-rotation`, in a namespace of another name. */
async function allowPlaceholders(api: ControlPlane['api'], namespace: string): Promise<void> {
  const name = 'node-rotation-placeholder';
  const group = 'rbac.authorization.k8s.io';
  const role = await api.get<{ rules: unknown }>(`/apis/${group}/v1/namespaces/node-rotation/roles/${name}`);
  const common = { apiVersion: `${group}/v1`, metadata: { name, namespace } };
  await api.apply({ ...common, kind: 'Role', rules: role.rules });
  await api.apply({
    ...common,
    kind: 'RoleBinding',
    roleRef: { apiGroup: group, kind: 'Role', name },
    subjects: [{ apiGroup: group, kind: 'Group', name: clients['node-rotation'].group }],
  });
}
