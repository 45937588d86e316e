import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NAMES_OF_OTHERS } from '../../src/platform/names-of-others.js';
import { chatParams } from '../helpers/samples.js';
import { contextAt, failureOf, gatewayAt } from '../helpers/service.js';

const fetch = async () => Response.json({});
const messageOf = (construct: () => unknown): string => {
  try {
    construct();
  } catch (error) {
    return (error as Error).message;
  }
  return 'accepted';
};

test.each(Object.entries(NAMES_OF_OTHERS))('the option %s of another client is refused: %s', async (name, advice) => {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

  for (const option of [name, snake]) {
    for (const at of [gatewayAt, contextAt])
      expect(messageOf(() => at({ [option]: undefined }))).toBe(`${option} is unknown; ${advice}.`);
    if (option === 'headers') continue; // an option of a call
    const error = await failureOf(gatewayAt({ fetch }).presets.list({}, { [option]: 1 } as never));
    expect(String(error)).toContain(`options.${option}: is unknown; ${advice}`);
  }
});

test('docs/reference/openai-names.md prints these names', () => {
  const rows = new Map<string, string[]>();
  for (const [name, advice] of Object.entries(NAMES_OF_OTHERS)) rows.set(advice, [...(rows.get(advice) ?? []), name]);
  const guide = readFileSync('docs/reference/openai-names.md', 'utf8').replaceAll('`', '');

  for (const [advice, names] of rows) expect(guide).toContain(`\n| ${names.join(', ')} | ${advice} |\n`);
});

test('headers may be a Headers, and null leaves out what would be sent otherwise', async () => {
  const sent: Record<string, string>[] = [];
  const gateway = gatewayAt({
    fetch: async (_, { headers }) => {
      sent.push(headers);
      return Response.json({}, { status: 400 });
    },
    defaultHeaders: new Headers({ 'X-Team': 'a', 'x-other': 'b' }),
  });
  const ask = (headers: Headers | Record<string, string | null | undefined>) =>
    failureOf(gateway.chat.completions.create(chatParams, { headers }));

  await ask(new Headers({ 'x-other': 'c' }));
  await ask({ 'X-TEAM': null, 'x-other': undefined });
  await failureOf(gateway.withOptions({ defaultHeaders: { 'user-agent': null } }).presets.list());

  expect(sent[0]).toMatchObject({ 'x-team': 'a', 'x-other': 'c', 'user-agent': expect.any(String) });
  expect(sent[1]).toMatchObject({ 'x-other': 'b' });
  expect(sent[1]).not.toHaveProperty('x-team');
  expect(sent[2]).not.toHaveProperty('user-agent');
});
