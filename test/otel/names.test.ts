import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { expect, test } from 'vitest';
import { ATTRIBUTE } from '../../src/otel/names.js';

test('every attribute that is not our own has a name of the newest semantic conventions', () => {
  const known = new Set<unknown>(
    Object.entries(conventions).flatMap(([name, value]) => (name.startsWith('ATTR_') ? [value] : [])),
  );

  const unknown = Object.values(ATTRIBUTE).filter((name) => !name.startsWith('context_gateway.') && !known.has(name));

  expect(unknown).toEqual([]);
});
