import type { Row } from './measure.js';
import type { PlayedRow } from './played.js';

const OURS = 'context-gateway';
const BESIDE = ' with neighbours and last messages';
const RIVALS = ['BM25', 'MiniSearch'].map((name) => `${name}${BESIDE}`);
/** That of `createConversation`. */
const DEFAULT_BUDGET = 16_000;
/** The ways in the tables. The picture has the others, too. */
const SHOWN = ['last messages', ...RIVALS, OURS, `${OURS}, first turn`, `${OURS}, parts from SQLite`];

/** The published page: the figures of the unseen half. */
export function report(rows: readonly Row[], played: readonly PlayedRow[]): string {
  const groups = [...new Set(rows.map(groupOf))];
  return `# How much of the evidence a prompt contains

<!-- Written by npm run bench:conversation. -->

A question is asked at the end of a conversation that is longer than the budget. The messages that answer it are its evidence.
**Recall** is the mean share of these messages of which at least 80 % of the content words are in the prompt. All methods have the same
budget and the same exact count of tokens (o200k). ${fitting(rows)}

${verdict(rows)}

![Recall by tokens](conversation-bench.svg)

The picture shows recall by the tokens that a prompt has, not by its budget: context-gateway stops when further messages match too
little, so its lines end earlier.

${groups
  .map((group) =>
    section(
      group,
      rows.filter((row) => groupOf(row) === group),
    ),
  )
  .join('\n\n')}

## Turn by turn, with the service

Every turn of the same conversations is sent with \`createConversation\`, its token estimate and the emulator, which compacts them. The
questions follow at the end. **Undated**: without dates and names, passed to \`prepare\`. **AI SDK**: with \`streamText\` and
\`contextMiddleware\`, with dates and names. A **stable** prompt begins with the same bytes as the previous one, so that the model's
prompt cache can be used. Others come after a compaction that changed the context, or leave out messages that the previous one had.
**Cost**: mean tokens of a prompt, of which cached ones count a tenth. ${ending(played)}

| | tokens | recall, % | undated, % | AI SDK, % | turns | stable, % | cost | compactions |
|---|---|---|---|---|---|---|---|---|
${played.map(playedRow).join('\n')}

## The methods

- **Last messages**: the newest that fit.
- **BM25${BESIDE}**: what an app can write in sixty lines (\`bench/conversation/bm25.ts\`).
- **MiniSearch${BESIDE}**: the same with [MiniSearch](https://www.npmjs.com/package/minisearch) and its
  default settings, which do not divide Chinese into words.
- **context-gateway**: the prompts of \`createConversation\`, with an exact count. **First turn**: with the token estimate,
  before a reply has corrected it. **Parts from SQLite**: with a store that returns only what a turn wants.
- **Summary**, in the picture: the emulator's, with at most a quarter of the budget. It lowers recall with a small budget, and lists
  goals, decisions and the plan.

## The data

- **Chats**: MemoryBank-SiliconFriend (MIT), users simulated by a language model. The questions repeat many words of the short
  messages, so good recall is easy. **Long chats**: the same, sorted by date into one history. **Chats of weeks**: the same one after
  the other, each with its own ten days, without the questions that name a date.
- **Meetings**: QMSum (MIT). Questions ask about whole discussions, so the evidence often does not fit into 2,000 tokens.

Weights and rules were chosen with one half of each set. These figures are from the other, as is [what each
rule of the search brings](decisions/conversation.md).
The data is not part of the repository. Without it, a short conversation is measured, and this page does not change.
`;
}

function playedRow(row: PlayedRow): string {
  const { budget, recall, recallUndated, recallOfAiSdk, turns, stable, cost, compactions } = row;
  const share = (part: number): string => points(part / turns);
  return `| ${groupOf(row)} | ${budget.toLocaleString('en-US')} | ${points(recall)} | ${points(recallUndated)} | ${points(recallOfAiSdk)} | ${turns} | ${share(stable)} | ${thousands(cost / turns)} | ${compactions} |`;
}

function groupOf({ set, language }: Pick<Row, 'set' | 'language'>): string {
  return `${set.charAt(0).toUpperCase()}${set.slice(1)}, ${language}`;
}

function section(group: string, rows: readonly Row[]): string {
  const budgets = [...new Set(rows.map(({ budget }) => budget))];
  const ways = SHOWN.filter((way) => rows.some((row) => row.way === way));
  const cells = (way: string): string[] =>
    budgets.map((budget) => points(rows.find((row) => row.way === way && row.budget === budget)?.recall ?? 0));
  const tokens = budgets.map((budget) =>
    thousands(rows.find((row) => row.way === OURS && row.budget === budget)?.tokens ?? 0),
  );
  return `## ${group}

| recall, % | ${budgets.map((budget) => budget.toLocaleString('en-US')).join(' | ')} |
|---|${budgets.map(() => '---|').join('')}
${ways.map((way) => `| ${way} | ${cells(way).join(' | ')} |`).join('\n')}
| *tokens of a prompt, context-gateway* | ${tokens.join(' | ')} |`;
}

/** Whether all prompts fit into their budgets. */
function fitting(rows: readonly Row[]): string {
  const least = Math.min(...rows.map(({ fitted }) => fitted));
  return least === 1 ? 'All prompts fit.' : `At least ${points(least)} % of the prompts fit.`;
}

/** Where a simple baseline finds more at the default budget, what both take for that, and how far apart they are elsewhere. */
function verdict(rows: readonly Row[]): string {
  const own = rows.filter(({ way }) => way === OURS);
  const rivalsOf = (row: Row): Row[] =>
    rows.filter((one) => RIVALS.includes(one.way) && groupOf(one) === groupOf(row) && one.budget === row.budget);
  const atDefault = own.filter(({ budget }) => budget === DEFAULT_BUDGET);
  const ahead = atDefault.filter((row) => rivalsOf(row).some(({ recall }) => recall > row.recall));
  const recalls = (row: Row): string =>
    [...rivalsOf(row), row].map(({ way, recall }) => `${way.replace(BESIDE, '')} ${points(recall)}`).join(', ');
  const tokens = (all: readonly Row[]): number => all.reduce((sum, row) => sum + row.tokens, 0);
  const share = (tokens(atDefault) * RIVALS.length) / tokens(atDefault.flatMap(rivalsOf));
  const lead = (rival: string, language: string): string => {
    const leads = own
      .filter((row) => row.language === language)
      .flatMap((row) => rivalsOf(row).flatMap(({ way, recall }) => (way === rival ? row.recall - recall : [])));
    return [Math.min(...leads), Math.max(...leads)].map((one) => (100 * one).toFixed(1)).join(' to ');
  };
  return `**At the default budget of ${thousands(DEFAULT_BUDGET)} tokens, a simple search finds more in ${ahead.length} of ${atDefault.length} sets.** Recall, in per cent:

${ahead.map((row) => `- ${groupOf(row)}: ${recalls(row)}`).join('\n')}

Both searches fill the budget, and context-gateway takes ${points(share)} % of their tokens. Over all budgets:

| points ahead of | English | Chinese |
|---|---|---|
${RIVALS.map((rival) => `| ${rival.replace(BESIDE, '')} | ${lead(rival, 'English')} | ${lead(rival, 'Chinese')} |`).join('\n')}`;
}

/** What became of all turns. */
function ending(rows: readonly PlayedRow[]): string {
  const sum = (of: (row: PlayedRow) => number): number => rows.reduce((all, row) => all + of(row), 0);
  const [turns, failed, fitted] = [sum((row) => row.turns), sum((row) => row.failed), sum((row) => row.fitted)];
  return `Of ${turns.toLocaleString('en-US')} turns, ${failed} failed; ${points(fitted / turns)} % of the prompts fit.`;
}

function thousands(tokens: number): string {
  return Math.round(tokens).toLocaleString('en-US');
}

function points(share: number): string {
  return (100 * share).toFixed(share === 1 ? 0 : 1);
}

const WIDTH = 250;
const HEIGHT = 190;
/** One colour for two ways: the one with the summary is dashed. */
const COLOURS = ['#8a94a0', '#d08a1d', '#12508a', '#3d8b56'];
const strokeOf = (way: number): string =>
  `stroke="${COLOURS[Math.floor(way / 2)]}"${way % 2 === 1 ? ' stroke-dasharray="5 3"' : ''}`;

/** One diagram per set and language: recall by the mean tokens of a prompt, one line per way. */
export function chart(rows: readonly Row[]): string {
  const groups = [...new Set(rows.map(groupOf))];
  const ways = [...new Set(rows.map(({ way }) => way))].filter((way) => !way.startsWith(`${OURS}, `));
  const panels = groups.map((group, i) => {
    const own = rows.filter((row) => groupOf(row) === group);
    const budgets = [...new Set(own.map(({ budget }) => budget))];
    const [least, most] = [Math.log(0.7 * Math.min(...budgets)), Math.log(Math.max(...budgets))];
    const x = (tokens: number): number => 44 + ((Math.log(tokens) - least) * (WIDTH - 70)) / (most - least);
    const y = (share: number): number => HEIGHT - 28 - share * (HEIGHT - 60);
    const grid = [0, 0.5, 1].map(
      (share) =>
        `<path d="M40 ${y(share)}H${WIDTH - 20}" stroke="#ddd"/><text x="36" y="${y(share) + 4}" text-anchor="end">${100 * share}%</text>`,
    );
    const marks = budgets.map(
      (budget) => `<text x="${x(budget)}" y="${HEIGHT - 10}" text-anchor="middle">${budget / 1000}k</text>`,
    );
    const lines = ways.map((way, k) => {
      const line = own
        .filter((row) => row.way === way)
        .map((row) => `${x(row.tokens).toFixed(0)},${y(row.recall).toFixed(1)}`);
      return `<polyline points="${line.join(' ')}" fill="none" ${strokeOf(k)} stroke-width="2"/>`;
    });
    const title = `<text x="40" y="18" font-weight="600">${group}</text>`;
    return `<g transform="translate(${(i % 3) * WIDTH},${Math.floor(i / 3) * HEIGHT})">${[title, ...grid, ...marks, ...lines].join('')}</g>`;
  });
  const top = Math.ceil(groups.length / 3) * HEIGHT;
  const legend = ways.map((way, k) => {
    const [left, line] = [40 + (k % 2) * 340, top + 16 + Math.floor(k / 2) * 20];
    return `<path d="M${left} ${line - 4}h18" ${strokeOf(k)} stroke-width="3"/><text x="${left + 26}" y="${line}">${way}</text>`;
  });
  const height = top + 30 + Math.ceil(ways.length / 2) * 20;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${3 * WIDTH}" height="${height}" viewBox="0 0 ${3 * WIDTH} ${height}" role="img" aria-label="Recall by tokens of the prompt">
<rect width="100%" height="100%" fill="#fff"/>
<g font-family="system-ui, sans-serif" font-size="12" fill="#222">
${[...panels, ...legend].join('\n')}
</g>
</svg>
`;
}
