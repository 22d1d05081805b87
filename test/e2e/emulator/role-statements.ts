/**
 * The inline policies of a deployed role, to give it a statement more or take one away while it is in use.
 */
import type { AwsEmulator } from './aws-emulator.ts';
import { askByQuery } from './aws-requests.ts';

export interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
}

interface PolicyDocument {
  readonly Version: string;
  readonly Statement: readonly Statement[];
}

export const actionsOf = ({ Action }: Statement): readonly string[] => [Action].flat();

/** Sets each statement of the role to what `change` makes of it: none, one or several. @returns what puts all back */
export async function changeStatements(
  emulator: AwsEmulator,
  role: string,
  change: (statement: Statement) => readonly Statement[],
): Promise<() => Promise<void>> {
  const before = await policiesOf(emulator, role);
  const put = async (policies: ReadonlyMap<string, PolicyDocument>): Promise<void> => {
    for (const [name, document] of policies) {
      await iam(emulator, 'PutRolePolicy', role, { PolicyName: name, PolicyDocument: JSON.stringify(document) });
    }
  };
  const changed = [...before].map(
    ([name, document]) => [name, { ...document, Statement: document.Statement.flatMap(change) }] as const,
  );
  await put(new Map(changed));
  return () => put(before);
}

async function policiesOf(emulator: AwsEmulator, role: string): Promise<ReadonlyMap<string, PolicyDocument>> {
  const names = (await iam(emulator, 'ListRolePolicies', role)).matchAll(/<member>([^<]+)<\/member>/g);
  const policies = new Map<string, PolicyDocument>();
  for (const [, PolicyName = ''] of names) {
    const xml = await iam(emulator, 'GetRolePolicy', role, { PolicyName });
    const [, document = ''] = /<PolicyDocument>([^<]*)<\/PolicyDocument>/.exec(xml) ?? [];
    policies.set(PolicyName, JSON.parse(decodeURIComponent(document)));
  }
  return policies;
}

const iam = (
  emulator: AwsEmulator,
  Action: string,
  RoleName: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<string> => askByQuery(emulator, 'iam', { Action, Version: '2010-05-08', RoleName, ...parameters });
