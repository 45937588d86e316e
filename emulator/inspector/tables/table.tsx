import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { Empty } from '../parts/card.js';
import { Code } from '../parts/code.js';
import { linkTo } from '../service/router.js';
import { count, dateAndTime } from '../service/words.js';

/** A record of a list. A list of texts has records with one field. */
export type Row = Readonly<Record<string, unknown>>;

/** What can be done with a row: at once, and when it is open. */
export interface RowActions {
  buttons: ComponentChildren;
  forms: ComponentChildren;
}

type ActionsOf = (row: Row) => RowActions;

/** Records as a table, with a column for each of their fields. */
export function Table({ id, rows, actionsOf }: { id: string; rows: readonly Row[]; actionsOf?: ActionsOf }) {
  const [most, setMost] = useState(PAGE);
  if (rows.length === 0) return <Empty>None yet.</Empty>;
  const columns = [...new Set(rows.flatMap(Object.keys))].filter((name) => name !== 'object');
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="scrolls" tabIndex={0} aria-label={`Table of ${id}`}>
        <table id={id}>
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name}>{name}</th>
              ))}
              <th>
                <span class="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map((row, i) => (
              <RowView key={row.id ?? row.name ?? i} row={row} columns={columns} actionsOf={actionsOf} />
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > most && <Button onClick={() => setMost(rows.length)}>Show all {count(rows.length)}</Button>}
    </>
  );
}

const PAGE = 100;

interface RowProps {
  row: Row;
  columns: readonly string[];
  actionsOf: ActionsOf | undefined;
}

function RowView({ row, columns, actionsOf }: RowProps) {
  const [isOpen, setOpen] = useState(false);
  const name = nameOf(row);
  const actions = actionsOf?.(row);
  return (
    <>
      <tr>
        {columns.map((column) => (
          <td key={column} class={typeof row[column] === 'number' ? 'number-cell' : ''}>
            <Cell name={column} value={row[column]} />
          </td>
        ))}
        <td class="actions">
          <Button kind="quiet" label={`${isOpen ? 'Close' : 'Open'} ${name}`} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Close' : 'Open'}
          </Button>
          {actions?.buttons}
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={columns.length + 1} class="open-row">
            <Code label={name} text={JSON.stringify(row, null, 2)} />
            {actions?.forms}
          </td>
        </tr>
      )}
    </>
  );
}

/** What a person calls a record. */
export function nameOf({ name, filename, key, id }: Row): string {
  return String(name ?? filename ?? key ?? id);
}

function Cell({ name, value }: { name: string; value: unknown }) {
  if (name === 'requestId' && typeof value === 'string') return <a href={linkTo('requests', value)}>Show request</a>;
  return <div class="cell">{textOf(name, value)}</div>;
}

/** A value in a few words. Times are in UTC, whatever form they come in. */
export function textOf(name: string, value: unknown): string {
  if (value === undefined || value === null) return '–';
  if (typeof value === 'number') {
    if (name.endsWith('_at')) return dateAndTime(new Date(value * 1000).toISOString());
    return Number.isInteger(value) ? count(value) : String(Number(value.toFixed(6)));
  }
  if (typeof value !== 'string') return JSON.stringify(value);
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? dateAndTime(value) : value;
}
