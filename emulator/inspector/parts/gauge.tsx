import { count } from '../service/words.js';

/** The name of a colour. */
export type Color = 'summary' | 'pinned' | 'recent' | 'bad' | 'good' | 'rest' | `series-${number}`;

/** The style of what is drawn in a colour. */
export function inColor(color: Color): { '--of': string } {
  return { '--of': `var(--${color})` };
}

/** A part of a whole. */
export interface Share {
  kind: Color;
  name: string;
  value: number;
}

/** A bar with shares of a whole. The label says the same in words. */
export function Gauge({ shares, total, label }: { shares: readonly Share[]; total: number; label: string }) {
  const width = (value: number): string => `${total === 0 ? 0 : Math.min(100, (100 * value) / total)}%`;
  return (
    <div class="gauge" role="img" aria-label={label}>
      {shares.map(({ kind, name, value }) => (
        <span key={name} class="fill" style={{ ...inColor(kind), width: width(value) }} />
      ))}
    </div>
  );
}

/** What the colours of a gauge or a chart stand for. */
export function Legend({ of }: { of: readonly { kind: Color; name: string; value?: number }[] }) {
  return (
    <ul class="legend soft">
      {of.map(({ kind, name, value }) => (
        <li key={name} style={inColor(kind)}>
          {name} {value !== undefined && count(value)}
        </li>
      ))}
    </ul>
  );
}
