import * as conventions from '@opentelemetry/semantic-conventions/incubating';

const KNOWN = new Set<unknown>(
  Object.entries(conventions).flatMap(([name, value]) => (name.startsWith('ATTR_') ? [value] : [])),
);

/** The names of attributes that are neither our own nor of the newest semantic conventions. */
export function unknownNames(...attributes: object[]): string[] {
  return attributes.flatMap(Object.keys).filter((name) => !name.startsWith('context_gateway.') && !KNOWN.has(name));
}
