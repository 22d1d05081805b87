/**
 * What the events.k8s.io API asks of a new Event: who reports it, what was done and when, and where it may lie.
 *
 * Limits are counted in bytes.
 */
import type { Status } from './api-status.ts';
import { invalid } from './api-status.ts';
import type { Kind } from './kinds.ts';
import type { KubeObject } from './kube-object.ts';
import { isQualifiedName } from './object-names.ts';

const longestText = 128;
const longestNote = 1024;
/** Where Events about objects without a namespace lie. */
const namespacesOfClusterScoped = ['default', 'kube-system'];

/** The first objection to a new Event. */
export function objectionToEvent(kind: Kind, event: KubeObject): Status | undefined {
  const wrong = (field: string, problem: string): Status => invalid(kind, event.metadata.name, field, problem);
  const { eventTime, reportingController, type, note } = event;
  if (typeof eventTime !== 'string' || eventTime === '') return wrong('eventTime', 'Required value');
  if (typeof reportingController !== 'string' || reportingController === '') {
    return wrong('reportingController', 'Required value');
  }
  if (!isQualifiedName(reportingController)) {
    return wrong(
      'reportingController',
      `Invalid value: "${reportingController}": name part must consist of letters and digits`,
    );
  }
  for (const field of ['reportingInstance', 'action', 'reason']) {
    const text = event[field];
    if (typeof text !== 'string' || text === '') return wrong(field, 'Required value');
    if (bytesOf(text) > longestText)
      return wrong(field, `Invalid value: "": can have at most ${longestText} characters`);
  }
  if (type !== 'Normal' && type !== 'Warning') return wrong('type', `Invalid value: "": has invalid value: ${type}`);
  if (typeof note === 'string' && bytesOf(note) > longestNote) {
    return wrong('note', `Invalid value: "": can have at most ${longestNote} characters`);
  }
  const about = (event.regarding as { readonly namespace?: string } | undefined)?.namespace;
  if (about !== undefined || namespacesOfClusterScoped.includes(event.metadata.namespace ?? '')) return undefined;
  return wrong('involvedObject.namespace', 'Invalid value: "": does not match event.namespace');
}

/** Of the UTF-8 form. */
const bytesOf = (text: string): number =>
  [...text].reduce((sum, character) => {
    const point = character.codePointAt(0) ?? 0;
    return sum + (point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4);
  }, 0);
