import type { Talk } from './data.js';
import type { Row } from './measure.js';
import type { PlayedRow } from './played.js';

const OURS = 'context-gateway';
const RIVAL = 'BM25 with neighbours and last messages';

/** The published page: the figures of the unseen half. */
export function report(rows: readonly Row[], played: readonly PlayedRow[], talks: readonly Talk[]): string {
  const groups = [...new Set(rows.map(groupOf))];
  const names = talks.filter(({ set }) => set === 'chats' || set === 'meetings').map(({ name }) => name);
  return `# How much of the evidence a prompt contains

<!-- Written by npm run bench:conversation. -->

A question is asked at the end of a conversation that is longer than the budget. The messages that answer it are its evidence: how
much of it is in the prompt? **Recall** is the mean share of a question's evidence messages of which at least 80 % of the content
words are in the prompt. Messages with fewer than three content words are not counted. All methods have the same budget and the same
exact count of tokens (o200k).

![Recall by tokens](conversation-bench.svg)

The picture shows recall by the tokens that a prompt has, not by its budget. context-gateway stops when further messages match too
little, so its lines end earlier. Tokens have a logarithmic scale.

${groups
  .map((group) =>
    section(
      group,
      rows.filter((row) => groupOf(row) === group),
    ),
  )
  .join('\n\n')}

## Turn by turn, with the service

Every turn of the same conversations is sent with \`createConversation\`, its token estimate and the emulator, which
compacts them. The questions follow at the end. A **stable** prompt begins with the same bytes of context and messages as the previous
one, so that the model's prompt cache can be used. **AI SDK**: the same questions with \`streamText\` and \`contextMiddleware\`, with
dates and names in \`providerOptions\`. **Undated**: the same messages, without dates and names, passed to
\`buildMessages\`. **Cost**: mean tokens of a prompt, if messages at its beginning that are the same as in the previous prompt are cached
and count a tenth. If the service rejects a prompt as too long, it is shortened and sent again.

| | tokens | recall, % | undated, % | AI SDK, % | turns | failed | that fit, % | stable, % | cost | compactions |
|---|---|---|---|---|---|---|---|---|---|---|
${played.map(playedRow).join('\n')}

## In comparison with ${RIVAL}

${verdict(rows)}

## The methods

- **Last messages**: the newest that fit.
- **${RIVAL}**: what an app can write in sixty lines (\`bench/conversation/bm25.ts\`). A quarter of the budget is for
  the newest messages, the rest for matches with the message before and after.
- **Summary**: the emulator's, which consists of sentences of the messages. It takes at most a quarter of the budget, so it lowers
  recall with a small budget. In return, it lists goals, decisions and the plan.
- **context-gateway**: \`fitToBudget\`, with which \`createConversation\` builds its prompts.
- **First turn**: the same with the token estimate, before a reply has corrected it.

## The data

- **Chats**: MemoryBank-SiliconFriend (MIT), users simulated by a language model, with questions in English and Chinese.
  They are short, and the questions repeat many of their words, so good recall is easy.
- **Long chats**: the same chats, sorted by date into one history.
- **Chats of weeks**: the same chats one after the other, each with its own ten days, without the questions that name a date.
- **Meetings**: QMSum (MIT), design teams, research groups and committees. Questions ask about whole discussions, so the
  evidence often does not fit into 2,000 tokens.

Weights and rules were chosen with one half of each set. These figures are from the other: ${[...new Set(names)].join(', ')}.
The data is not part of the repository. Without it, a short conversation is measured, and this page does not change.
`;
}

function playedRow(row: PlayedRow): string {
  const { budget, recall, recallUndated, recallOfAiSdk, turns, failed, fitted, stable, cost, compactions } = row;
  const share = (part: number): string => points(part / turns);
  return `| ${groupOf(row)} | ${budget.toLocaleString('en-US')} | ${points(recall)} | ${points(recallUndated)} | ${points(recallOfAiSdk)} | ${turns} | ${failed} | ${share(fitted)} | ${share(stable)} | ${thousands(cost / turns)} | ${compactions} |`;
}

function groupOf({ set, language }: Pick<Row, 'set' | 'language'>): string {
  return `${set.charAt(0).toUpperCase()}${set.slice(1)}, ${language}`;
}

function section(group: string, rows: readonly Row[]): string {
  const budgets = [...new Set(rows.map(({ budget }) => budget))];
  const ways = [...new Set(rows.map(({ way }) => way))];
  const cells = (way: string): string[] =>
    budgets.map((budget) => points(rows.find((row) => row.way === way && row.budget === budget)?.recall ?? 0));
  const fits = (way: string): string =>
    points(Math.min(...rows.filter((row) => row.way === way).map(({ fitted }) => fitted)));
  const tokens = budgets.map((budget) =>
    thousands(rows.find((row) => row.way === OURS && row.budget === budget)?.tokens ?? 0),
  );
  const time = (way: string): string =>
    Math.max(...rows.filter((row) => row.way === way).map(({ time }) => time)).toFixed(0);
  return `## ${group}

| recall, % | ${budgets.map((budget) => budget.toLocaleString('en-US')).join(' | ')} | prompts that fit, % | ms |
|---|${budgets.map(() => '---|').join('')}---|---|
${ways.map((way) => `| ${way} | ${cells(way).join(' | ')} | ${fits(way)} | ${time(way)} |`).join('\n')}
| *tokens of a prompt, context-gateway* | ${tokens.join(' | ')} | | |`;
}

function verdict(rows: readonly Row[]): string {
  const ours = rows.filter(({ way }) => way === OURS);
  const gains = ours.map((row) => {
    const rival = rows.find((one) => one.way === RIVAL && groupOf(one) === groupOf(row) && one.budget === row.budget);
    return {
      where: `${groupOf(row)}, ${row.budget.toLocaleString('en-US')} tokens`,
      gain: 100 * (row.recall - (rival?.recall ?? 0)),
    };
  });
  const low = gains.filter(({ gain }) => gain < 2);
  const all = gains.map(({ gain }) => gain);
  return `From ${Math.min(...all).toFixed(1)} to ${Math.max(...all).toFixed(1)} points ahead. ${
    low.length === 0
      ? 'At least 2 points everywhere.'
      : `Less than 2 points: ${low.map(({ where, gain }) => `${where} (${gain.toFixed(1)})`).join('; ')}.`
  }`;
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
const COLOURS = ['#8a94a0', '#d08a1d', '#12508a'];
const strokeOf = (way: number): string =>
  `stroke="${COLOURS[Math.floor(way / 2)]}"${way % 2 === 1 ? ' stroke-dasharray="5 3"' : ''}`;

/** One diagram per set and language: recall by the mean tokens of a prompt, one line per way. */
export function chart(rows: readonly Row[]): string {
  const groups = [...new Set(rows.map(groupOf))];
  const ways = [...new Set(rows.map(({ way }) => way))].filter((way) => !way.endsWith('first turn'));
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
