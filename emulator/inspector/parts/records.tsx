import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { count } from '../service/words.js';
import { Button } from './button.js';
import { Empty } from './card.js';
import { Load } from './load.js';

interface RecordsProps<T> {
  of: readonly T[];
  id?: string;
  /** What to say, or to do, while there is none. */
  empty?: ComponentChildren;
  /** How many are shown at first. */
  most?: number;
  children: (one: T) => JSX.Element;
}

/** A list of records. */
export function Records<T>({ of, id, empty, most = Number.POSITIVE_INFINITY, children }: RecordsProps<T>) {
  const [isAll, setAll] = useState(false);
  if (of.length === 0) return empty ? <Empty>{empty}</Empty> : null;
  return (
    <>
      <ul class="records" id={id}>
        {(isAll ? of : of.slice(0, most)).map(children)}
      </ul>
      {!isAll && of.length > most && <Button onClick={() => setAll(true)}>Show all {count(of.length)}</Button>}
    </>
  );
}

/** A list of what a path of the control plane has. */
export function LoadedRecords<T>({
  path,
  topics,
  ...rest
}: Omit<RecordsProps<T>, 'of'> & { path: string; topics: readonly string[] }) {
  return (
    <Load<readonly T[]> path={path} topics={topics}>
      {(of) => <Records of={of} {...rest} />}
    </Load>
  );
}

/** One record: its name, a note below, and what can be done with it. */
export function Item({
  name,
  note,
  actions,
  kind,
  children,
}: {
  name: ComponentChildren;
  note?: ComponentChildren;
  actions?: ComponentChildren;
  kind?: string;
  children?: ComponentChildren;
}) {
  return (
    <li class={kind}>
      <div class="grow">
        {name}
        {note && <small class="soft">{note}</small>}
        {children}
      </div>
      {actions && <div class="row">{actions}</div>}
    </li>
  );
}
