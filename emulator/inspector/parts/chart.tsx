import type { ComponentChildren } from 'preact';
import { type Color, inColor, Legend } from './gauge.js';
import { useWidth } from './use-width.js';

/** A line through points, or the area under it. */
export interface Line {
  name: string;
  kind: Color;
  isArea?: boolean;
  points: readonly (readonly [x: number, y: number])[];
}

/** Lines on a common axis. The label is a sentence that describes the chart, for screen readers. */
export function LineChart({
  label,
  lines,
  xs,
  marks,
}: {
  label: string;
  lines: readonly Line[];
  xs: { from: number; to: number; text: (x: number) => string };
  marks: readonly { x: number; text: string }[];
}) {
  const most = Math.max(1, ...lines.flatMap(({ points }) => points.map(([, y]) => y)));
  return (
    <Plot label={label} most={most} legend={lines}>
      {(width, y) => {
        const x = (value: number): number =>
          LEFT + ((value - xs.from) / Math.max(1, xs.to - xs.from)) * (width - LEFT - 8);
        return (
          <>
            {marks.map((mark) => {
              const isEnd = x(mark.x) > width - 90;
              return (
                <g key={mark.x} class="mark">
                  <line x1={x(mark.x)} x2={x(mark.x)} y1={TOP} y2={TOP + INNER} />
                  <text x={x(mark.x) + (isEnd ? -4 : 4)} y={TOP + 10} class={isEnd ? 'end' : ''}>
                    {mark.text}
                  </text>
                </g>
              );
            })}
            {lines.map(({ name, kind, isArea, points }) => {
              const path = points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(' L');
              const ends = `${x(points.at(-1)?.[0] ?? 0)},${y(0)} L${x(points[0]?.[0] ?? 0)},${y(0)}`;
              return (
                <g key={name} class="line" style={inColor(kind)}>
                  {isArea && <path class="area" d={`M${path} L${ends}Z`} />}
                  <path class="stroke" d={`M${path}`} />
                </g>
              );
            })}
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

/** The frame of a chart: its width, grid and legend. */
function Plot({
  label,
  most,
  legend,
  children,
}: {
  label: string;
  most: number;
  legend: readonly { name: string; kind: Color }[];
  children: (width: number, y: (value: number) => number) => ComponentChildren;
}) {
  const [ref, width] = useWidth<HTMLElement>();
  const steps = niceSteps(most);
  const y = (value: number): number => TOP + (1 - value / (steps.at(-1) ?? 1)) * INNER;
  return (
    <figure class="chart" ref={ref}>
      {width > 0 && (
        <svg role="img" aria-label={label} width={width} height={HEIGHT}>
          {steps.map((step) => (
            <g key={step} class="grid">
              <line x1={LEFT} x2={width - 8} y1={y(step)} y2={y(step)} />
              <text x={LEFT - 8} y={y(step) + 4} class="end">
                {short.format(step)}
              </text>
            </g>
          ))}
          {children(width, y)}
        </svg>
      )}
      <figcaption>
        <Legend of={legend.map(({ name, kind }) => ({ name, kind }))} />
      </figcaption>
    </figure>
  );
}

/** Round numbers for the grid, up to the first one that is large enough. */
function niceSteps(most: number): number[] {
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? power * 10;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, i) => i * step);
}

/** `12K`, `3.4M` */
const short = new Intl.NumberFormat('en', { notation: 'compact' });

const HEIGHT = 200;
const TOP = 8;
const LEFT = 46;
const INNER = HEIGHT - TOP - 26;
