/**
 * What CloudWatch demands of a log line before it makes metrics of it (the Embedded Metric Format). A line that breaks a
 * rule is no error there: its metrics are silently missing.
 */
import type { LogLine } from './deployed-function.ts';

interface Directive {
  readonly Namespace?: unknown;
  readonly Dimensions?: unknown;
  readonly Metrics?: unknown;
}

const mostMetrics = 100;
const mostDimensions = 30;
const units = new Set(['Count', 'Seconds', 'None']);

export const isMetricLine = (line: LogLine): boolean => '_aws' in line;

/** Every metric of a line, by its name. */
export function metricsOf(line: LogLine): Readonly<Record<string, unknown>> {
  const names = directivesOf(line).flatMap(({ Metrics }) =>
    (Metrics as { readonly Name: string }[]).map(({ Name }) => Name),
  );
  return Object.fromEntries(names.map((name) => [name, line[name]]));
}

/** None for a line of which CloudWatch makes all of its metrics. */
export function metricLineProblems(line: LogLine): readonly string[] {
  const { Timestamp } = line._aws as { readonly Timestamp?: unknown };
  const directives = directivesOf(line);
  return [
    ...(Number.isSafeInteger(Timestamp) ? [] : ['the timestamp is no whole number of milliseconds']),
    ...(directives.length > 0 ? [] : ['it declares no metric']),
    ...directives.flatMap((directive) => [
      ...namespaceProblems(directive),
      ...dimensionProblems(directive, line),
      ...metricProblems(directive, line),
    ]),
  ];
}

const directivesOf = (line: LogLine): readonly Directive[] => {
  const { CloudWatchMetrics } = line._aws as { readonly CloudWatchMetrics?: unknown };
  return Array.isArray(CloudWatchMetrics) ? CloudWatchMetrics : [];
};

const namespaceProblems = ({ Namespace }: Directive): readonly string[] =>
  Namespace === 'NodeRotation' ? [] : [`the namespace is ${Namespace}`];

function dimensionProblems({ Dimensions }: Directive, line: LogLine): readonly string[] {
  if (!Array.isArray(Dimensions) || Dimensions.length === 0) return ['there is no set of dimensions'];
  return Dimensions.flatMap((set: readonly string[]) => [
    ...(set.length <= mostDimensions ? [] : [`${set.length} dimensions in one set`]),
    ...set.filter((name) => typeof line[name] !== 'string' || line[name] === '').map((name) => `no text for ${name}`),
  ]);
}

function metricProblems({ Metrics }: Directive, line: LogLine): readonly string[] {
  if (!Array.isArray(Metrics) || Metrics.length === 0) return ['there is no metric'];
  return [
    ...(Metrics.length <= mostMetrics ? [] : [`${Metrics.length} metrics in one line`]),
    ...Metrics.flatMap(({ Name, Unit }: { Name: string; Unit?: string }) => [
      ...(Number.isFinite(line[Name]) ? [] : [`no number for ${Name}`]),
      ...(Unit !== undefined && units.has(Unit) ? [] : [`the unit of ${Name} is ${Unit}`]),
    ]),
  ];
}
