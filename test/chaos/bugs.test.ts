import { readFileSync } from 'node:fs';
import { transform } from 'esbuild';
import { expect, test } from 'vitest';
import { BUGS } from './bugs.js';

test.each(BUGS)('"$name" can be planted in exactly one place, and compiles', async ({ module, place, instead }) => {
  const source = readFileSync(new URL(`../../${module}`, import.meta.url), 'utf8');

  expect(source.split(place)).toHaveLength(2);
  await transform(
    source.replace(place, () => instead),
    { loader: 'ts' },
  );
});
