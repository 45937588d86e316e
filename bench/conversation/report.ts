import type { Row } from './run.js';

/** Renders the results page, which says for each aim whether it is met. */
export function report(rows: readonly Row[], facts: { meetings: number; turns: number; isSample: boolean }): string {
  const source = facts.isSample
    ? 'A conversation of our own making (`bench/conversation/sample`) was played'
    : `${facts.meetings} meetings of real design teams (the AMI corpus, as released with QMSum) were played`;
  const table = rows.map(
    (row) =>
      `| ${row.window.toLocaleString('en-US')} | ${row.way} | ${percent(row.fitted / row.prompts)} | ${percent(recall(row))} | ${Math.round(row.tokens / row.turns).toLocaleString('en-US')} | ${percent(row.stable / row.turns)} | ${row.compactions} |`,
  );
  return `# Keeping a conversation within its window: the measure

<!-- Written by npm run bench:conversation. -->

${source}, ${facts.turns} turns against the emulator: one speaker asks, the others are the model. Each way of fitting had the
same window, an eighth of it left for the reply. At the end the questions about each meeting were asked.

![Recall of decisions, by way and window](conversation-bench.svg)

| window | way | prompts that fitted | recall of decisions | tokens a turn | turns with a stable beginning | compactions |
|---|---|---|---|---|---|---|
${table.join('\n')}

- **Prompts that fitted**: by the exact o200k count, the questions at the end included.
- **Recall of decisions**: of the turns that bear out an answer which tells a decision (${rows[0]?.evidence ?? 0} of them), how many were
  among what was sent when the question was asked: at least four fifths of the words that turn and answer share, in one line.
- **Stable beginning**: the prompt began with the bytes of the prompt before, up to its input, so that a model's cache can use them.
- **The service's summary alone** climbs the levels of compaction until the context fits, and cuts what still does not.
  **Summary and last messages** fills the rest of the window with the newest messages.
- **Ours without the context** is \`createConversation\` without \`context\`: the newest messages, and what it finds among the
  older ones. **Ours** also sends the service's summary.

## Targets

${targets(rows).join('\n')}
`;
}

function targets(rows: readonly Row[]): string[] {
  const windows = [...new Set(rows.map(({ window }) => window))];
  const of = (way: string): Row => rowOf(rows, windows[0] ?? 0, way);
  const ours = of('ours');
  const against = (way: string, points: number): string => {
    const ahead = 100 * (recall(ours) - recall(of(way)));
    return `- Recall ${points} points above ${way}: ${ahead.toFixed(1)} points, ${ahead >= points ? 'met' : '**not met**'}.`;
  };
  const stable = ours.stable / ours.turns;
  const fitted = rows.filter(({ way }) => way.startsWith('ours')).every((row) => row.fitted === row.prompts);
  return [
    `- Every prompt that we build fits, at both windows: ${fitted ? 'met' : '**not met**'}.`,
    against("the service's summary alone", 15),
    against('last messages only', 25),
    `- Four fifths of the turns with a stable beginning: ${percent(stable)}, ${stable >= 0.8 ? 'met' : '**not met**'}.`,
    ...windows.map((window) => {
      const at = (way: string): number => 100 * recall(rowOf(rows, window, way));
      const hand = at('summary and last messages');
      return `- No aim, but good to know: against summary and last messages, which is quickly written by hand, ours recalls ${signed(at('ours') - hand)} points at ${window.toLocaleString('en-US')} tokens, and without the context ${signed(at('ours without the context') - hand)}.`;
    }),
  ];
}

function rowOf(rows: readonly Row[], window: number, way: string): Row {
  const row = rows.find((one) => one.way === way && one.window === window);
  if (row === undefined) throw new Error(`no row of ${way}`);
  return row;
}

function signed(points: number): string {
  return `${points < 0 ? '−' : '+'}${Math.abs(points).toFixed(1)}`;
}

export function recall({ recalled, evidence }: Row): number {
  return recalled / evidence;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share === 1 ? 0 : 1)} %`;
}
