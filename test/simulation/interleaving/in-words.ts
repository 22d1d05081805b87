/**
 * Calls of a tick in one line each, for the traces of what was found.
 */
import type { Action } from '../../../lib/engine/decision.ts';
import type { PortCall } from './port.ts';
import { stepName } from './port.ts';

export function inWords(call: PortCall): string {
  switch (call.kind) {
    case 'observe':
      return 'observe';
    case 'inspect':
      return `inspect ${[...call.need.nodes, ...call.need.podsOnNodes].join(' ')}${call.need.dryRunDeletes.length > 0 ? ' dry run' : ''}`;
    case 'reread':
      return `reread the pool${call.node ? ` and ${call.node.name}` : ''}`;
    case 'putSteps':
      return `rows ${call.entries.map((entry) => stepName(entry).split('=')[1]).join(' ')}`;
    case 'apply':
      return describeAction(call.action);
  }
}

function describeAction(action: Action): string {
  if (action.kind === 'createPlaceholder') return 'createPlaceholder';
  if (action.kind === 'annotate' || action.kind === 'protect' || action.kind === 'unprotect') {
    const keys = Object.entries(action.annotations).map(
      ([key, value]) => `${key.split('/')[1]}${value === null ? '−' : `=${value.slice(0, 24)}`}`,
    );
    return `${action.kind} ${action.target.kind} ${action.target.name} {${keys.slice(0, 4).join(', ')}}`;
  }
  if (action.kind === 'deletePlaceholder') return 'deletePlaceholder';
  return action.kind === 'deleteNodeClaim' ? `delete NodeClaim ${action.target.name} (${action.because})` : action.kind;
}
