interface Turn {
  completion?: unknown;
  steps: unknown;
  report: { recalled: unknown };
  messages: readonly { role: string; tool_calls?: unknown }[];
}

/** A turn as a page gets it, whose events have named what was recalled, and the calls. */
type ShownTurn<Whole extends Turn> = Omit<Whole, 'completion' | 'steps' | 'report'> & {
  report: Omit<Whole['report'], 'recalled'>;
};

/**
 * A turn without what only the server may know: what tools were asked, and what they returned, unless the app shows that. The calls that
 * wait for the app are still there, as `toolCalls`.
 */
export function shownTurn<Whole extends Turn>(turn: Whole, showResults: boolean): ShownTurn<Whole> {
  const { completion: _, steps: __, report, messages, ...rest } = turn;
  const { recalled: ___, ...shown } = report;
  const visible = messages.filter(({ role }) => showResults || role !== 'tool');
  const withoutCalls = visible.map(({ tool_calls, ...message }) => message);
  // The cast is true: calls are optional.
  return { ...rest, messages: withoutCalls, report: shown } as unknown as ShownTurn<Whole>;
}
