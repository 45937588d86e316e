import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runCommand } from '../../src/cli/run-command.js';
import { inJSON, inTables } from '../../src/cli/tables.js';
import { builtFile, runNode } from '../helpers/programs.js';
import { emulatedService } from '../helpers/world.js';

const world = emulatedService({});
const content = 'We decided to write Parquet because the finance team loads it directly.';
const messages = [
  { id: 'm1', role: 'user' as const, content },
  { id: 'm2', role: 'assistant' as const, content: 'Noted.' },
];
beforeEach(() => {
  vi.stubEnv('CONTEXT_GATEWAY_BASE_URL', world.baseURL);
  vi.stubEnv('CONTEXT_GATEWAY_API_KEY', world.emulator.apiKeys.secret);
  vi.stubEnv('CONTEXT_GATEWAY_SESSION_TOKEN', world.emulator.sessionToken);
  world.emulator.conversations.create({ id: 'talk', messages });
});
afterEach(() => void vi.unstubAllEnvs());

/** Runs a command in this process. */
async function run(...args: string[]) {
  const printed = { out: '', err: '' };
  const code = await runCommand(args, {
    version: '1.2.3',
    out: (text) => {
      printed.out += text;
    },
    err: (text) => {
      printed.err += text;
    },
    input: Readable.from([]),
    serve: async () => {},
  });
  return { code, ...printed };
}

test('usage prints the report as a table', async () => {
  const gateway = world.gateway();
  await gateway.chat.completions.create({ model: 'atlas-small', messages: [{ role: 'user', content: 'Hello?' }] });
  const { code, out } = await run('usage', '--start', '2026-01-01', '--end', '2026-01-31');

  expect(code).toBe(0);
  expect(out).toMatch(/^tokens_used +\d+$/m);
  expect(out).toMatch(/^period\n {2}start +2026-01-01\n {2}end +2026-01-31$/m);
  expect(out).toMatch(/^breakdown_by_model\n {2}atlas-small +\d+$/m);
});

test('compact, pin and context show act on the service', async () => {
  expect((await run('compact', 'talk', '--level', 'deep')).out).toMatch(/^success +true\npreviousTokenCount +\d+$/m);
  expect((await run('pin', 'talk', 'm1', '--category', 'decision')).out).toMatch(/^category +decision$/m);
  const { out } = await run('context', 'show', 'talk');

  expect(out).toMatch(/^pinnedMemory\n {2}id +messageId +content +category +pinnedAt$/m);
  expect(out).toContain('We decided to write Parquet');
  expect((await run('unpin', 'talk', 'm1')).out).toBe('success  true\n');
  expect((await run('exclude', 'talk', 'm1')).code).toBe(0);
  expect((await run('include', 'talk', 'm1')).code).toBe(0);
  expect(world.last).toMatchObject({ method: 'PATCH', path: '/api/context/exclude/talk/m1', status: 200 });
});

test('memory is saved, updated, listed and deleted', async () => {
  await run('memory', 'save', 'preference', 'editor', 'Uses vim.');
  const saved = JSON.parse((await run('memory', 'save', 'preference', 'editor', 'Uses emacs.', '--json')).out);
  expect((await run('memory', 'list')).out).toMatch(/^id +type +key +content$/m);
  expect(JSON.parse((await run('memory', 'list', '--type', 'preference', '--json')).out)).toMatchObject([
    { id: saved.id, content: 'Uses emacs.' },
  ]);
  expect((await run('memory', 'delete', saved.id)).code).toBe(0);
  expect((await run('memory', 'list')).out).toBe('(none)\n');
});

test('search finds what the context and the memory hold, the best match first', async () => {
  await run('memory', 'save', 'fact', 'finance', 'The finance team is in Oslo.');
  await run('pin', 'talk', 'm1');
  const found = JSON.parse((await run('search', 'talk', 'Why Parquet?', '--json')).out);

  expect(found[0]).toEqual({ section: 'pinned', id: 'm1', text: content });
  expect(JSON.parse((await run('search', 'talk', 'Oslo', '--json')).out)).toMatchObject([{ section: 'memory (fact)' }]);
});

test('search shows the reason of a decision in brackets', async () => {
  const later = Array.from({ length: 20 }, () => ({ role: 'user' as const, content: 'A remark on the weather.' }));
  world.emulator.conversations.create({ id: 'long', messages: [...messages, ...later] });
  await run('compact', 'long', '--level', 'deep');

  const [found] = JSON.parse((await run('search', 'long', 'Parquet', '--json')).out);

  expect(found).toMatchObject({
    section: 'decision',
    text: 'We decided to write Parquet. (the finance team loads it directly)',
  });
});

test.each([
  { args: ['contxt'], message: 'There is no command contxt: ask, chat, usage, context show' },
  { args: ['memory'], message: 'memory needs a second word: memory list, memory save, memory delete.' },
  { args: ['pin', 'talk'], message: 'message is missing. Usage: context-gateway pin CONVERSATION MESSAGE [--category' },
  { args: ['compact', 'talk', 'now'], message: 'Too many arguments' },
  {
    args: ['usage', '--from', 'x'],
    message: 'The option --from is unknown. Usage: context-gateway usage [--start DATE]',
  },
  { args: ['usage', '--strat', 'x'], message: 'The option --strat is unknown (did you mean --start?). Usage:' },
  { args: ['usage', '--jsn'], message: 'The option --jsn is unknown (did you mean --json?). Usage:' },
  { args: ['--jsn', 'usage'], message: 'The option --jsn is unknown (did you mean --json?).' },
  { args: ['--nothing'], message: 'The option --nothing is unknown.' },
  { args: ['--start', 'x'], message: 'Options such as --start come after the command.' },
  { args: ['compact', 'talk', '--level', 'hard'], message: 'The request was not sent: level: expected "light" or' },
  { args: ['usage', '--start', 'May'], message: 'The request was not sent: --start: ' },
  {
    args: ['ask', '--model', 'm'],
    message: 'question is missing. Usage: context-gateway ask QUESTION [--model MODEL]',
  },
  {
    args: ['chat', '--json'],
    message:
      'The option --json is unknown. Usage: context-gateway chat [--model MODEL] [--system TEXT] [--file PATH]… [--con',
  },
  { args: ['mcp', '--port', '1'], message: 'mcp takes no arguments' },
])('$args is a wrong command', async ({ args, message }) => {
  const { code, out, err } = await run(...args);

  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(`context-gateway: ${message}`);
  expect(world.emulator.requests).toEqual([]);
});

test.each([
  ['CONTEXT_GATEWAY_API_KEY', '', ' is missing. Set CONTEXT_GATEWAY_API_KEY'],
  ['CONTEXT_GATEWAY_BASE_URL', 'x', ' must'],
])('an error about %s names the variable', async (name, value, message) => {
  vi.stubEnv(name, value);
  const { code, err } = await run('usage');

  expect(code).toBe(1);
  expect(err).toContain(`context-gateway: ${name}${message}`);
});

test('only what needs a missing variable fails', async () => {
  vi.stubEnv('CONTEXT_GATEWAY_API_KEY', '');

  expect((await run('memory', 'list')).code).toBe(0);
});

test.each([
  ['港口', 4, 'Chinese takes two columns'],
  ['🚀', 2, 'an emoji takes two'],
  ['❤️', 2, 'so does a sign that is shown as an emoji'],
  ['e\u0301', 1, 'a combining accent takes none'],
])('columns are aligned with %s in %i columns: %s', (wide, width) => {
  const [, first, second] = inTables([wide, 'port'].map((key) => ({ key, content: 'AAA' }))).split('\n');

  expect(first).toBe(`${wide}${' '.repeat(6 - width)}AAA`);
  expect(second).toBe('port  AAA');
});

test('a table has at most 40 columns, and says how many are missing', () => {
  const records = Array.from({ length: 3 }, (_, at) =>
    Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`k${at * 30 + i}`, at])),
  );

  const lines = inTables(records).split('\n');

  expect(lines[0]?.split(/ +/)).toHaveLength(40);
  expect(lines.at(-2)).toBe('… 50 more columns: see --json');
});

test('what is nested deeper than five levels is shown as JSON', () => {
  const deep = { a: { b: { c: { d: { e: { f: { g: 1 } } } } } } };

  expect(inTables(deep)).toBe('a.b.c.d.e\n  f  {"g":1}\n');
});

test.each([
  [`${'x'.repeat(77)}🚀🚀`, `${'x'.repeat(77)}🚀…`],
  ['漢'.repeat(40), '漢'.repeat(40)],
  ['漢'.repeat(41), `${'漢'.repeat(39)}…`],
])('a text of more than 80 columns is cut between characters', (text, shown) => {
  expect(inTables({ text })).toBe(`text  ${shown}\n`);
});

test('--json may come before the command; of other options the message says where they go', async () => {
  expect(JSON.parse((await run('--json', 'memory', 'list')).out)).toEqual([]);
  expect(JSON.parse((await run('--json', 'search', '--', 'talk', '--json')).out)).toEqual([]);
  expect(await run('--type', 'fact', 'memory', 'list')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Options such as --type come after the command.'),
  });
});

test('a table has two decimals, and JSON all', () => {
  const result = { preservationRatio: 0.34519572953736655, tokens: 95 };

  expect(inTables(result)).toBe('preservationRatio  0.35\ntokens             95\n');
  expect(JSON.parse(inJSON(result))).toEqual(result);
});

test('escape sequences of the service do not reach the terminal', async () => {
  await world.context().memory.create({ type: 'fact', key: 'k', content: 'red\u001b[31mtext\nand more' });

  const { out } = await run('memory', 'list');
  expect(out).toContain('red [31mtext and more');
  expect(out).not.toContain('\u001b');
});

test('nor do those in its errors, nor what turns the direction of text around', async () => {
  const message = 'no\u001b[31m such\u202e conversation\u2066';
  world.emulator.faults.add({ match: { path: '/api/context' }, respond: { status: 404, message } });
  const { code, err } = await run('context', 'show', 'c');

  expect(code).toBe(1);
  expect(err).toContain('such');
  expect(err.trimEnd()).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
});

test('nor do those in the names of fields, nor those that JSON does not escape', () => {
  const result = { definitions: { 'CSV\u001b]0;title\u0007': 'a\u009b31m\u202eb' }, 'x\u001b': [{ 'y\u001b': 1 }] };

  expect(inTables(result)).toBe('definitions\n  CSV ]0;title   a 31m b\n\nx \n  y\n  1\n');
  expect(inJSON(result)).not.toMatch(/[\u001b\u0007\u009b\u202e]/);
  expect(JSON.parse(inJSON(result))).toEqual(result);
});

test('what follows -- is a text, also if it looks like an option', async () => {
  expect((await run('memory', 'save', 'fact', 'low', '-5')).err).toContain(
    'The option -5 is unknown; put texts that begin with - after --.',
  );
  expect((await run('memory', 'save', 'fact', 'flag', '--', '--help')).code).toBe(0);
  expect(await world.context().memory.list()).toMatchObject([{ key: 'flag', content: '--help' }]);
});

test('a reader that leaves early, such as head, is no error', async () => {
  const child = spawn(process.execPath, [builtFile('cli'), 'help']);
  child.stdout.destroy();
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);

  expect({ code, errors }).toEqual({ code: 0, errors: '' });
});

test('help lists every command, and the built command runs', async () => {
  const { out } = await run('help');
  expect(out).toContain('pin CONVERSATION MESSAGE [--category decision|requirement|reference|other]');
  expect((await run('compact', '--help')).out).toBe(
    'Usage: context-gateway compact CONVERSATION [--level light|deep|aggressive] [--json]\n\n' +
      'Compact a conversation: older messages become part of its summary, which leaves out details.\n\n' +
      'CONVERSATION  The id of the conversation\n--level       How much to remove\n',
  );

  const { code, text: printed } = await runNode([builtFile('cli'), 'usage', '--json']);
  expect(code, printed).toBe(0);
  expect(JSON.parse(printed)).toMatchObject({ tokens_used: 0 });
});
