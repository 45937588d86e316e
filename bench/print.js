/** Prints the figures as Markdown. */
import { median } from './measure.js';
import { LABELS } from './tables.js';

const label = (contestant) => LABELS[contestant] ?? contestant;

export function machine(versions, rounds) {
  console.log(versions);
  console.log(
    `Medians of ${rounds} rounds. Each contestant and the server run in their own process, the contestants in turn. ` +
      'CPU time is user and system, of all threads. In brackets: ratio to the first row.',
  );
}

export function table({ title, unit, contestants }, items, figures) {
  heading(`${title}: CPU µs ${unit === 'call' ? 'a call' : 'an event'}, and ${rateOf(items)}`);
  columns(items.map(({ column }) => column));
  for (const contestant of contestants) {
    const cells = items.map(({ name, method }) => {
      const { cpu, wall } = figures.get(name)[contestant];
      const ratio = median(cpu) / median(figures.get(name)[contestants[0]].cpu);
      const rate = method === 'first' ? `${number(median(wall))} µs` : `${count(1e6 / median(wall))}/s`;
      return `${number(median(cpu))} (${ratio.toFixed(2)}×) ${rate}`;
    });
    row(label(contestant), cells);
  }
}

const rateOf = ([{ method }]) => (method === 'first' ? 'wall time' : 'rate');

export function cold(result) {
  heading('A new process: ms over an empty one, until the package is imported and until its first response');
  columns(['imported', 'first response']);
  for (const [contestant, { imported, answered }] of Object.entries(result))
    row(label(contestant), [number(median(imported)), number(median(answered))]);
}

export function marks(all) {
  heading('Marks');
  console.log('| | required | measured | lowest and highest round | |\n|---|---|---|---|---|');
  for (const { text, required, measured, lowest, highest, met } of all)
    row(text, [required, number(measured), `${number(lowest)} … ${number(highest)}`, met ? 'met' : '**not met**']);
}

export function profile(name, contestant, functions, file) {
  heading(`Profile of ${name}, ${label(contestant)}: self time`);
  for (const { share, name: functionName, place } of functions)
    console.log(`${(100 * share).toFixed(1).padStart(5)} %  ${functionName.padEnd(32)} ${place}`);
  console.log(`\n${file}`);
}

function heading(text) {
  console.log(`\n### ${text}\n`);
}

function columns(names) {
  console.log(`| | ${names.join(' | ')} |\n|---${'|---'.repeat(names.length)}|`);
}

function row(name, cells) {
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}

function number(value) {
  const size = Math.abs(value);
  return size >= 100 || Number.isInteger(value) ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function count(value) {
  return Math.round(value >= 10_000 ? Math.round(value / 100) * 100 : value).toLocaleString('en-US');
}
