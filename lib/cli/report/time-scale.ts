/**
 * Where an instant lies on a drawing. Maintenance windows are stretched, because everything happens in them: on an even
 * scale a rotation of ten minutes within two weeks would be thinner than a hair.
 */
import type { Instant } from '../../domain/time.ts';

export interface Span {
  readonly start: Instant;
  readonly end: Instant;
}

export interface Segment extends Span {
  readonly open: boolean;
  readonly left: number;
  readonly right: number;
}

export interface TimeScale {
  readonly segments: readonly Segment[];
  x(at: Instant): number;
}

/** The share of the width that open time gets, however short it is. */
const shareOfOpen = 0.8;

/**
 * @param windows in order, without overlaps
 * @param left x of `range.start`; `right` that of `range.end`
 */
export function timeScale(range: Span, windows: readonly Span[], left: number, right: number): TimeScale {
  const pieces = piecesOf(range, windows);
  const lengthOf = (open: boolean): number =>
    pieces.filter((piece) => piece.open === open).reduce((total, { start, end }) => total + (end - start), 0);
  const [opened, closed] = [lengthOf(true), lengthOf(false)];
  const width = right - left;
  const openWidth = opened === 0 ? 0 : closed === 0 ? width : width * shareOfOpen;
  const perMs = (open: boolean): number => (open ? openWidth / opened : (width - openWidth) / closed);
  let at = left;
  const segments = pieces.map((piece) => {
    const from = at;
    at += (piece.end - piece.start) * perMs(piece.open);
    return { ...piece, left: from, right: at };
  });
  return { segments, x: (instant) => positionOf(segments, instant, left, right) };
}

function piecesOf(range: Span, windows: readonly Span[]): (Span & { open: boolean })[] {
  const pieces: (Span & { open: boolean })[] = [];
  let at = range.start;
  for (const window of windows) {
    const start = Math.max(window.start, at) as Instant;
    const end = Math.min(window.end, range.end) as Instant;
    if (end <= start) continue;
    if (start > at) pieces.push({ start: at, end: start, open: false });
    pieces.push({ start, end, open: true });
    at = end;
  }
  if (at < range.end) pieces.push({ start: at, end: range.end, open: false });
  return pieces;
}

function positionOf(segments: readonly Segment[], at: Instant, left: number, right: number): number {
  const segment = segments.find(({ start, end }) => at >= start && at < end);
  if (!segment) return at < (segments[0]?.start ?? at) ? left : right;
  return segment.left + ((at - segment.start) / (segment.end - segment.start)) * (segment.right - segment.left);
}
