import type { ComponentChildren } from 'preact';
import { count } from '../service/words.js';
import { useWidth } from './use-width.js';

/** A line through points, or the area under it. */
export interface Line {
  name: string;
  kind: string;
  isArea?: boolean;
  points: readonly (readonly [x: number, y: number])[];
}

interface ChartProps {
  /** A sentence that describes the chart, for screen readers. */
  label: string;
  lines: readonly Line[];
  xs: { from: number; to: number; text: (x: number) => string };
  marks?: readonly { x: number; text: string }[];
  /** A line for the limit. */
  limit?: { y: number; text: string } | undefined;
}

/** Lines on a common axis. */
export function LineChart({ label, lines, xs, marks = [], limit }: ChartProps) {
  const most = Math.max(1, limit?.y ?? 0, ...lines.flatMap(({ points }) => points.map(([, y]) => y)));
  const scale = niceScale(most);
  return (
    <Plot label={label} scale={scale} legend={lines}>
      {(width) => {
        const x = (value: number): number =>
          LEFT + ((value - xs.from) / Math.max(1, xs.to - xs.from)) * (width - LEFT - 8);
        const y = (value: number): number => TOP + (1 - value / scale.top) * INNER;
        const path = ({ points }: Line): string =>
          points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(' L');
        return (
          <>
            {marks.map((mark) => (
              <g key={mark.x} class="mark">
                <line x1={x(mark.x)} x2={x(mark.x)} y1={TOP} y2={TOP + INNER} />
                <text
                  x={x(mark.x) + (x(mark.x) > width - 90 ? -4 : 4)}
                  y={TOP + 10}
                  class={x(mark.x) > width - 90 ? 'end' : ''}
                >
                  {mark.text}
                </text>
              </g>
            ))}
            {lines.map((line) => {
              const first = line.points[0];
              const last = line.points.at(-1);
              if (first === undefined || last === undefined) return null;
              const area = `M${x(first[0])},${y(0)} L${path(line)} L${x(last[0])},${y(0)}Z`;
              return (
                <g key={line.name} class={`line ${line.kind}`}>
                  {line.isArea && <path class="area" d={area} />}
                  <path class="stroke" d={`M${path(line)}`} />
                </g>
              );
            })}
            {limit !== undefined && (
              <g class="limit">
                <line x1={LEFT} x2={width - 8} y1={y(limit.y)} y2={y(limit.y)} />
                <text x={width - 8} y={y(limit.y) + 13} class="end">
                  {limit.text}
                </text>
              </g>
            )}
            <text x={LEFT} y={HEIGHT - 4}>
              {xs.text(xs.from)}
            </text>
            <text x={width - 8} y={HEIGHT - 4} class="end">
              {xs.text(xs.to)}
            </text>
          </>
        );
      }}
    </Plot>
  );
}

/** A column with its parts. */
export interface Column {
  name: string;
  parts: readonly { kind: string; name: string; value: number }[];
}

/** Stacked columns. */
export function ColumnChart({
  label,
  columns,
  legend,
  limit,
}: {
  label: string;
  columns: readonly Column[];
  legend: readonly { name: string; kind: string }[];
  limit?: { y: number; text: string } | undefined;
}) {
  const sums = columns.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0));
  const most = Math.max(1, ...sums);
  // A limit far above all columns would flatten them.
  const shownLimit = limit !== undefined && limit.y <= most * 4 ? limit : undefined;
  const scale = niceScale(Math.max(most, shownLimit?.y ?? 0));
  return (
    <Plot label={label} scale={scale} legend={legend}>
      {(width) => {
        const step = (width - LEFT - 8) / Math.max(1, columns.length);
        const y = (value: number): number => TOP + (1 - value / scale.top) * INNER;
        const every = Math.ceil(columns.length / Math.max(2, Math.floor(width / 110)));
        return (
          <>
            {columns.map((column, i) => {
              let below = 0;
              return (
                <g key={column.name}>
                  {column.parts.map(({ kind, name, value }) => {
                    const from = below;
                    below += value;
                    return (
                      <rect
                        key={name}
                        class={`column ${kind}`}
                        x={LEFT + i * step + step * 0.14}
                        width={Math.min(48, step * 0.72)}
                        y={y(below)}
                        height={Math.max(0, y(from) - y(below))}
                      >
                        <title>{`${column.name}: ${name} ${count(value)}`}</title>
                      </rect>
                    );
                  })}
                  {i % every === 0 && (
                    <text x={LEFT + i * step + step * 0.14} y={HEIGHT - 4}>
                      {column.name}
                    </text>
                  )}
                </g>
              );
            })}
            {shownLimit !== undefined && (
              <g class="limit">
                <line x1={LEFT} x2={width - 8} y1={y(shownLimit.y)} y2={y(shownLimit.y)} />
                <text x={width - 8} y={y(shownLimit.y) + 13} class="end">
                  {shownLimit.text}
                </text>
              </g>
            )}
          </>
        );
      }}
    </Plot>
  );
}

/** The frame of a chart: its width, grid and legend. */
function Plot({
  label,
  scale,
  legend,
  children,
}: {
  label: string;
  scale: { top: number; steps: readonly number[] };
  legend: readonly { name: string; kind: string }[];
  children: (width: number) => ComponentChildren;
}) {
  const [ref, width] = useWidth<HTMLElement>();
  return (
    <figure class="chart" ref={ref}>
      {width > 0 && (
        <svg role="img" aria-label={label} width={width} height={HEIGHT}>
          {scale.steps.map((step) => {
            const y = TOP + (1 - step / scale.top) * INNER;
            return (
              <g key={step} class="grid">
                <line x1={LEFT} x2={width - 8} y1={y} y2={y} />
                <text x={LEFT - 8} y={y + 4} class="end">
                  {short(step)}
                </text>
              </g>
            );
          })}
          {children(width)}
        </svg>
      )}
      <figcaption>
        <ul class="legend">
          {legend.map(({ name, kind }) => (
            <li key={name} class={kind}>
              {name}
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}

/** Round numbers for the grid, up to the first one that is large enough. */
function niceScale(most: number): { top: number; steps: number[] } {
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? power * 10;
  const top = Math.ceil(most / step) * step;
  return { top, steps: Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step) };
}

/** `12k`, `3.4M` */
function short(value: number): string {
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toFixed(1))}M`;
  return value >= 1000 ? `${Number((value / 1000).toFixed(1))}k` : String(value);
}

const HEIGHT = 200;
const TOP = 8;
const LEFT = 46;
const INNER = HEIGHT - TOP - 26;
