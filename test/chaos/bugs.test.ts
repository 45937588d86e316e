import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BUGS } from './bugs.js';

test.each(BUGS)('"$name" can be planted in exactly one place', ({ module, place }) => {
  const source = readFileSync(new URL(`../../${module}`, import.meta.url), 'utf8');

  expect(source.split(place)).toHaveLength(2);
});
