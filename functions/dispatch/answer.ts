/** What the dispatch function says it has done: for its log, and for whoever invokes it by hand. */
export interface DispatchAnswer {
  readonly outcome: 'Sent' | 'Stale' | 'Ignored' | 'Refused' | 'Expired';
  readonly sent: number;
  readonly failed: number;
}
