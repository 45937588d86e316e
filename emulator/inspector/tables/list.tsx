import { useSignal } from '@preact/signals';
import type { OpenApi } from '../../src/control/openapi.js';
import { Card, ErrorLine, Facts } from '../parts/card.js';
import { bound, Field, Select, type Value } from '../parts/field.js';
import { ask } from '../service/control.js';
import { useLoaded } from '../service/use-loaded.js';
import { bodyOf, type DescribedList, type PartOperation } from './description.js';
import { needsInput, OperationButton, OperationForm, pathOf } from './operation.js';
import { nameOf, type Row, type RowActions, Table, textOf } from './table.js';

type Query = Readonly<Record<string, string>>;

interface ListProps {
  described: DescribedList;
  topics: readonly string[];
  description: OpenApi;
}

/** What a route returns: a table, or facts with the tables among them. */
export function ListCard({ described, topics, description }: ListProps) {
  const { list, whole } = described;
  const name = list.path.slice(list.path.lastIndexOf('/') + 1);
  const query = useSignal<Query>({});
  const params = new URLSearchParams(Object.entries(query.value).filter(([, value]) => value !== ''));
  const { data, error } = useLoaded<unknown>(`${list.path}?${params}`, topics, { keepsLast: true });
  return (
    <Card title={name.charAt(0).toUpperCase() + name.slice(1)}>
      <p class="soft">{list.summary}.</p>
      <QueryForm list={list} query={query} />
      <ErrorLine>{error}</ErrorLine>
      {Array.isArray(data) && (
        <Table
          id={name}
          rows={data.map((row) => (typeof row === 'string' ? { id: row } : row))}
          actionsOf={(row) => actionsOf(row, described, description)}
        />
      )}
      {data !== undefined && !Array.isArray(data) && <Whole value={Object(data)} />}
      {whole !== undefined && data !== undefined && (
        <details id={whole.operationId}>
          <summary>{whole.summary}</summary>
          <OperationForm operation={whole} description={description} record={Object(data)} />
        </details>
      )}
    </Card>
  );
}

function QueryForm({ list, query }: { list: PartOperation; query: Value<Query> }) {
  const fields = (list.parameters ?? []).map(({ name, schema, description = '' }) => {
    const of = bound(query.value[name] ?? '', (value) => {
      query.value = { ...query.value, [name]: value };
    });
    const id = `query-${name}`;
    const options = schema.enum?.map(String);
    if (options === undefined) return <Field key={name} label={name} id={id} of={of} placeholder={description} />;
    return <Select key={name} label={name} id={id} of={of} options={[['', '–'], ...options]} />;
  });
  return fields.length === 0 ? null : <div class="form">{fields}</div>;
}

/** An object: its tables stand below its other fields. */
function Whole({ value }: { value: Row }) {
  const tables = Object.entries(value).filter((entry): entry is [string, Row[]] => Array.isArray(entry[1]));
  const facts = Object.entries(value)
    .filter(([, field]) => !Array.isArray(field))
    .flatMap(([name, field]) =>
      typeof field === 'object' && field !== null
        ? Object.entries(field).map(([inner, one]) => [`${name} ${inner}`, textOf(inner, one)] as const)
        : [[name, textOf(name, field)] as const],
    );
  return (
    <>
      <Facts of={Object.fromEntries(facts)} />
      {tables.map(([name, rows]) => (
        <div key={name}>
          <h3>{name}</h3>
          <Table id={name} rows={rows} />
        </div>
      ))}
    </>
  );
}

/** The actions of a row: those without input as buttons, the others as forms. */
function actionsOf(row: Row, { rows, create }: DescribedList, description: OpenApi): RowActions {
  const name = nameOf(row);
  const knownOf = ({ path }: { path: string }): Record<string, string> => {
    const [, parameter = ''] = /\{(\w+)\}/.exec(path) ?? [];
    return { [parameter]: String(row[parameter]) };
  };
  const buttons = rows
    .filter((operation) => !needsInput(operation, knownOf(operation)))
    .map((operation) => {
      const { operationId: key, method } = operation;
      const known = knownOf(operation);
      if (method !== 'GET') return <OperationButton key={key} operation={operation} known={known} name={name} />;
      return (
        <a key={key} class="button quiet" href={`/_emulator${pathOf(operation, known)}`} download={name}>
          Download
        </a>
      );
    });
  const forms = rows
    .filter((operation) => needsInput(operation, knownOf(operation)))
    .map((operation) => {
      const record = operation.method === 'PATCH' ? { record: row } : {};
      const shared = { operation, description, known: knownOf(operation), ...record };
      return <OperationForm key={operation.operationId} {...shared} />;
    });
  const remove = rows.find(({ method, path }) => method === 'DELETE' && path.endsWith('}'));
  // What has no route to change it is deleted, and created once more.
  const replace = async (body: unknown): Promise<void> => {
    if (remove === undefined || create === undefined) return;
    await ask('DELETE', pathOf(remove, knownOf(remove)));
    try {
      await ask('POST', create.path, body);
    } catch (error) {
      await ask('POST', create.path, bodyOf(create, description, row));
      throw error;
    }
  };
  if (remove !== undefined && create !== undefined)
    forms.push(<OperationForm key="replace" operation={create} description={description} record={row} act={replace} />);
  return { buttons, forms };
}
