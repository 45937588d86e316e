import type { OpenApi, Operation } from '../../src/control/openapi.js';

/** A part of the service: the first segments of its paths in the control plane, and the topics that change it. */
export interface ServicePart {
  name: string;
  title: string;
  paths: readonly string[];
  topics: readonly string[];
}

/** By default, its name is its only path and topic. */
export function part(name: string, title: string, paths = [name], topics = paths): ServicePart {
  return { name, title, paths, topics };
}

/** The first is shown at first. */
export const PARTS: readonly [ServicePart, ...ServicePart[]] = [
  part('memory', 'Memory'),
  part('presets', 'Presets'),
  part('integrations', 'Integrations', ['integrations'], ['integrations', 'integration-executions']),
  part('files', 'Files'),
  part('users', 'Users', ['users', 'sessions', 'workspaces']),
  part('keys', 'Keys and plan', ['keys', 'account'], ['api-keys', 'account']),
  part('models', 'Models'),
  part('usage', 'Usage and limits', ['usage', 'limits'], ['usage', 'account', 'requests', 'clock']),
  part('clock', 'Clock and state', ['clock', 'snapshots', 'reset']),
];

/** An operation of the control plane. Its path is the one below `/_emulator`, with parameters as `{id}`. */
export interface PartOperation extends Operation {
  method: string;
  path: string;
}

/** A list or an object that a part shows, with what can be done with it. */
export interface DescribedList {
  list: PartOperation;
  /** Operations on one of its rows. */
  rows: PartOperation[];
  /** Creates a row from all of its fields, with its id. */
  create: PartOperation | undefined;
  /** Changes an object as a whole. */
  whole: PartOperation | undefined;
}

/** Sorts the operations of a part by what they are about. */
export function describedPart(
  description: OpenApi | undefined,
  part: ServicePart,
): { lists: DescribedList[]; others: PartOperation[] } {
  const all = description === undefined ? [] : operationsOf(description, part);
  const lists = all
    .filter(({ method, path }) => method === 'GET' && !path.includes('{'))
    .map((list) => {
      const on = (method: string) => all.find((each) => each.method === method && each.path === list.path);
      const rows = all.filter((each) => each.path.startsWith(`${list.path}/{`) && !isCreation(each) && !isRead(each));
      const isFixed = rows.every(({ method }) => method !== 'PATCH');
      return { list, rows, create: isFixed ? on('POST') : undefined, whole: on('PUT') };
    });
  const shown = new Set(lists.flatMap(({ rows, whole }) => [whole, ...rows]));
  return { lists, others: all.filter((each) => each.method !== 'GET' && !shown.has(each)) };
}

/** To PUT a record under a name creates it, so this is no action of a row. */
function isCreation({ method, path }: PartOperation): boolean {
  return method === 'PUT' && /^[^{]*\{\w+\}$/.test(path);
}

/** Returns a row once more. */
function isRead({ method, responses }: PartOperation): boolean {
  return method === 'GET' && responses['200']?.content['application/json'] !== undefined;
}

function operationsOf({ paths }: OpenApi, part: ServicePart): PartOperation[] {
  const placeOf = ({ path }: PartOperation): number => part.paths.indexOf(path.split('/')[1] ?? '');
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(PREFIX))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path: path.slice(PREFIX.length),
      })),
    )
    .filter((operation) => placeOf(operation) >= 0)
    .sort((a, b) => placeOf(a) - placeOf(b));
}

const PREFIX = '/_emulator';

/** The used part of a JSON Schema. */
interface Form {
  $ref?: string;
  anyOf?: readonly Form[];
  enum?: readonly unknown[];
  type?: string;
  properties?: Readonly<Record<string, Form>>;
  required?: readonly string[];
  items?: Form;
  minimum?: number;
  description?: string;
}

/** A body to begin with: the required fields, or with a record its fields that the body may have. */
export function bodyOf(operation: PartOperation, { components }: OpenApi, record?: object): unknown {
  const { form, named } = formOf(operation, components.schemas);
  if (form === undefined || record === undefined) return form && example(form, named);
  const { properties = {} } = form;
  return Object.fromEntries(Object.entries(record).filter(([name]) => Object.hasOwn(properties, name)));
}

/** The fields that a body need not have, each with its description. */
export function optionalFields(operation: PartOperation, { components }: OpenApi): string[] {
  const { properties = {}, required = [] } = formOf(operation, components.schemas).form ?? {};
  return Object.entries(properties)
    .filter(([name]) => !required.includes(name))
    .map(([name, { description }]) =>
      description === undefined ? name : `${name} (${description.replace(/\.$/, '')})`,
    );
}

function formOf(
  { requestBody }: PartOperation,
  schemas: object,
): { form: Form | undefined; named: Record<string, Form> } {
  const named = schemas as Record<string, Form>; // a JSON Schema has these fields, and more
  const form = requestBody?.content['application/json']?.schema as Form | undefined;
  return { form: form && resolved(form, named), named };
}

function resolved(form: Form, named: Record<string, Form>): Form {
  return form.$ref === undefined ? form : (named[form.$ref.slice(form.$ref.lastIndexOf('/') + 1)] ?? {});
}

function example(given: Form, named: Record<string, Form>): unknown {
  const { anyOf, enum: values, type, properties = {}, required = [], items, minimum } = resolved(given, named);
  if (anyOf?.[0] !== undefined) return example(anyOf[0], named);
  if (values !== undefined) return values[0];
  if (type === 'object')
    return Object.fromEntries(required.map((name) => [name, example(properties[name] ?? {}, named)]));
  if (type === 'array') return items === undefined ? [] : [example(items, named)];
  if (type === 'number' || type === 'integer') return minimum ?? 0;
  return type === 'boolean' ? false : '';
}
