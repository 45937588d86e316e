import { inspect } from 'node:util';

/** Lists the common ways to print, store or send a value that show one of the secrets. */
export function leaksOf(value: unknown, secrets: readonly string[]): string[] {
  const found: string[] = [];
  for (const [way, text] of printedForms(value)) {
    for (const secret of secrets) if (text.includes(secret)) found.push(`${way} shows ${secret.slice(0, 10)}…`);
  }
  return found;
}

function* printedForms(value: unknown, name = 'value', depth = 0): Generator<[string, string]> {
  yield [`String(${name})`, attempt(() => String(value))];
  yield [`inspect(${name})`, inspect(value, { depth: 20, showHidden: true, getters: false })];
  yield [`JSON.stringify(${name})`, attempt(() => JSON.stringify(value) ?? '')];
  yield [`structuredClone(${name})`, attempt(() => inspect(structuredClone(value), { depth: 20, showHidden: true }))];
  if (typeof value !== 'object' || value === null) return;
  yield [
    `own properties of ${name}`,
    inspect(Object.getOwnPropertyDescriptors(value), { depth: 20, showHidden: true }),
  ];
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    yield [`${name}.toJSON()`, inspect(value.toJSON(), { depth: 20, showHidden: true })];
  }
  if (!(value instanceof Error)) return;
  yield [`${name}.message`, value.message];
  yield [`${name}.stack`, value.stack ?? ''];
  if (value.cause !== undefined && depth < 5) yield* printedForms(value.cause, `${name}.cause`, depth + 1);
}

/** A value that cannot be printed shows nothing. */
function attempt(print: () => string): string {
  try {
    return print();
  } catch {
    return '';
  }
}
