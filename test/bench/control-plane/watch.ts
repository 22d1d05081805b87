/**
 * Watches a collection from the outside, and notes when each change was heard.
 */
import { request } from 'node:https';
import type { Access } from '../../e2e/harness/kube-api.ts';

export interface Heard<Seen> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: Seen;
}

/**
 * @param path of the collection; what is there already is heard first, as added
 * @returns ends the watch
 */
export function watch<Seen>(
  { server, authority, certificate, key }: Access,
  path: string,
  hear: (heard: Heard<Seen>, at: number) => void,
): () => void {
  let rest = '';
  const outgoing = request(
    `${server}${path}?watch=true`,
    { ca: authority, cert: certificate, key, headers: { accept: 'application/json' } },
    (incoming) => {
      incoming.setEncoding('utf8');
      incoming.on('data', (text: string) => {
        const at = performance.now();
        const lines = (rest + text).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line !== '') hear(JSON.parse(line) as Heard<Seen>, at);
      });
      incoming.on('error', () => {});
    },
  );
  outgoing.on('error', () => {});
  outgoing.end();
  return () => void outgoing.destroy();
}
