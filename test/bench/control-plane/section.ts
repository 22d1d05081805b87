/**
 * The section of docs/performance.md that is measured on a real control plane.
 */
import { tableInMarkdown } from '../markdown.ts';
import { rounded, spreadInWords, spreadOf } from '../statistics.ts';
import { measureRotations, nodes, type RotationFigures } from './rotations.ts';
import { measureThousand, type ThousandFigures, thousand } from './thousand-nodes.ts';

/** @param quick fewer ticks at a thousand nodes */
export async function controlPlaneSection(quick: boolean, say: (line: string) => void): Promise<string> {
  const rotations = await measureRotations(say);
  const ticks = await measureThousand(quick ? 8 : 30, say);
  return [rotationPart(rotations), thousandPart(ticks)].join('\n\n');
}

function rotationPart({ idle, quietCpu, busy, rotations }: RotationFigures): string {
  const by = (count: number, value: number): string => rounded(value / count);
  const idleRequests = idle.requests / idle.ticks;
  const beyond = busy.requests - idleRequests * busy.ticks;
  const rows = [
    ['requests', by(idle.ticks, idle.requests), by(nodes, busy.requests), by(nodes, beyond)],
    ['KB of lists', by(idle.ticks, idle.listBytes / 1_000), by(nodes, busy.listBytes / 1_000), ''],
    ["ms of the server's time", by(idle.ticks, idle.busy * 1_000), by(nodes, busy.busy * 1_000), ''],
    ["ms of the server's CPU", by(idle.ticks, Math.max(0, idle.cpu - quietCpu) * 1_000), '', ''],
    ['ticks', '1', by(nodes, busy.ticks), ''],
  ];
  const times = (of: 'readyToDelete' | 'unprotected'): string =>
    spreadInWords(spreadOf(rotations.map((each) => each[of] / 1_000)));
  return [
    '### On a real control plane',
    '',
    `kube-apiserver, scheduler, controller manager and Karpenter, a pool of ${nodes} nodes, ticks every two seconds. What the API`,
    'server counts for our own flow schema. One rotation is everything between two starts, idle ticks included; the last',
    'column leaves those out.',
    '',
    tableInMarkdown({ header: ['', 'an idle tick', 'a rotation', 'beyond idle ticks'], rows }),
    '',
    `From a ready surge to the delete of the old NodeClaim ${times('readyToDelete')} s; a new surge node stood unprotected for`,
    `${times('unprotected')} s (${rotations.length} rotations; one tick is two seconds).`,
  ].join('\n');
}

function thousandPart({ product, floor, server }: ThousandFigures): string {
  const cpu = (of: typeof product) => spreadOf(of.later.map((each) => each.cpu));
  const wall = (of: typeof product) => spreadOf(of.later.map((each) => each.wall));
  const row = (name: string, of: typeof product): string[] => [
    name,
    rounded(of.first.cpu),
    spreadInWords(cpu(of)),
    spreadInWords(wall(of)),
    rounded(of.peakRss),
  ];
  return [
    `${thousand.nodes.toLocaleString('en-US')} nodes with ${thousand.podsPerNode} Pods each, served by a real API server from a real etcd: an idle tick beside a bare`,
    'client that reads the same five lists.',
    '',
    tableInMarkdown({
      header: ['', 'first CPU ms', 'CPU ms', 'wall ms', 'RSS MB'],
      rows: [row('tick', product), row('floor', floor)],
    }),
    '',
    `The ratio of CPU is ${rounded(cpu(product).median / cpu(floor).median)}. For one tick the server answers ${rounded(server.requests)} requests with`,
    `${rounded(server.listBytes / 1_000_000)} MB of lists and takes ${rounded(server.busy * 1_000)} ms for them.`,
  ].join('\n');
}
