import { count } from '../service/words.js';

/** A part of a whole. */
export interface Share {
  kind: 'summary' | 'pinned' | 'recent' | 'bad';
  name: string;
  value: number;
}

/** A bar with shares of a whole. The label says the same in words. */
export function Gauge({ shares, total, label }: { shares: readonly Share[]; total: number; label: string }) {
  const width = (value: number): string => `${total === 0 ? 0 : Math.min(100, (100 * value) / total)}%`;
  return (
    <div class="gauge" role="img" aria-label={label}>
      {shares.map(({ kind, name, value }) => (
        <span key={name} class={`fill ${kind}`} style={{ width: width(value) }} />
      ))}
    </div>
  );
}

/** The legend of a gauge. */
export function Legend({ shares, rest }: { shares: readonly Share[]; rest?: { name: string; value: number } }) {
  return (
    <ul class="legend">
      {shares.map(({ kind, name, value }) => (
        <li key={name} class={kind}>
          {name} {count(value)}
        </li>
      ))}
      {rest && (
        <li class="rest">
          {rest.name} {count(rest.value)}
        </li>
      )}
    </ul>
  );
}
