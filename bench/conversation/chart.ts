import { recall } from './report.js';
import type { Row } from './run.js';

const LEFT = 210;
const WIDTH = 720;
const BAR = 18;
const COLOURS = ['#6b7a8f', '#2f6f9f'];

/** A bar chart of recall, with one group per way and one bar per window. Readable on light and dark pages. */
export function chart(rows: readonly Row[]): string {
  const ways = [...new Set(rows.map(({ way }) => way))];
  const windows = [...new Set(rows.map(({ window }) => window))];
  const group = windows.length * (BAR + 3) + 16;
  const height = ways.length * group + 60;
  const scale = WIDTH - LEFT - 70;
  const bars = ways.flatMap((way, i) => {
    const top = 44 + i * group;
    const label = `<text x="${LEFT - 10}" y="${top + (group - 16) / 2 + 4}" text-anchor="end">${way.replace("'", '&#39;')}</text>`;
    return [
      label,
      ...windows.map((window, j) => {
        const row = rows.find((one) => one.way === way && one.window === window);
        const share = row === undefined ? 0 : recall(row);
        const y = top + j * (BAR + 3);
        return `<rect x="${LEFT}" y="${y}" width="${(share * scale).toFixed(1)}" height="${BAR}" fill="${COLOURS[j]}"/><text x="${(LEFT + share * scale + 6).toFixed(1)}" y="${y + 14}">${(100 * share).toFixed(0)} %</text>`;
      }),
    ];
  });
  const legend = windows.map(
    (window, j) =>
      `<rect x="${LEFT + j * 150}" y="12" width="12" height="12" fill="${COLOURS[j]}"/><text x="${LEFT + 18 + j * 150}" y="23">${window.toLocaleString('en-US')} tokens</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="Recall of decisions, by way and window">
<rect width="100%" height="100%" fill="#fff"/>
<g font-family="system-ui, sans-serif" font-size="13" fill="#222">
${[...legend, ...bars].join('\n')}
</g>
</svg>
`;
}
