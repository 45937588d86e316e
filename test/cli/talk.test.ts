import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { runCommand } from '../../src/cli/run-command.js';
import { builtFile } from '../helpers/programs.js';
import { startNode } from '../helpers/start-node.js';
import { emulatedService } from '../helpers/world.js';

const world = emulatedService({});
const environment = () => ({
  CONTEXT_GATEWAY_BASE_URL: world.baseURL,
  CONTEXT_GATEWAY_API_KEY: world.emulator.apiKeys.secret,
  CONTEXT_GATEWAY_SESSION_TOKEN: world.emulator.sessionToken,
  CONTEXT_GATEWAY_MODEL: 'atlas-small',
});
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'talk-'));
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(() => {
  for (const [name, value] of Object.entries(environment())) vi.stubEnv(name, value);
});
afterEach(() => void vi.unstubAllEnvs());

/** Runs a command in this process, with a text on standard input. */
async function run(args: readonly string[], input: string | Uint8Array | AsyncIterable<Uint8Array> = '') {
  const printed = { out: '', err: '' };
  const code = await runCommand(args, {
    version: '1.2.3',
    input: Readable.from(typeof input === 'string' || input instanceof Uint8Array ? [Buffer.from(input)] : input),
    out: (text) => {
      printed.out += text;
    },
    err: (text) => {
      printed.err += text;
    },
    serve: async () => {},
  });
  return { code, ...printed };
}

async function file(name: string, content: string | Uint8Array): Promise<string> {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

/** The body of the last completion that was asked for. */
const sent = () => JSON.parse(world.last.body ?? '');

test('ask streams the reply to a question about files and standard input', async () => {
  const files = [
    await file('pier.txt', 'The pier gets a red lamp.\n'),
    await file('fare.txt', '\ufeffA fare is 4 euros.'),
  ];
  const flags = ['--model', 'birch-small', '--system', 'Be short.', ...files.flatMap((path) => ['--file', path])];

  expect(await run(['ask', 'Which lamp does the pier get?', ...flags], 'The harbour opens at six.')).toEqual({
    code: 0,
    out: 'The pier gets a red lamp.\n',
    err: '',
  });
  expect(sent()).toEqual({
    model: 'birch-small',
    stream: true,
    messages: [
      { role: 'system', content: 'Be short.' },
      {
        role: 'user',
        content: `<file name="pier.txt">
The pier gets a red lamp.
</file>

<file name="fare.txt">
A fare is 4 euros.
</file>

<file name="standard input">
The harbour opens at six.
</file>

Which lamp does the pier get?`,
      },
    ],
  });
});

test('ask --json prints the completion', async () => {
  const { out } = await run(['ask', 'The harbour opens at six. When does it open?', '--json']);

  expect(JSON.parse(out)).toMatchObject({ object: 'chat.completion', usage: { prompt_tokens: expect.any(Number) } });
  expect(sent()).toEqual({ model: 'atlas-small', messages: [{ role: 'user', content: expect.any(String) }] });
});

test('what a terminal would obey is printed as text, and tabs stay', async () => {
  world.emulator.chat.on('paint', 'a\u001b[31mred\u001b]0;title\u0007 \u009b2J\u202e\tb');

  expect((await run(['ask', 'paint'])).out).toBe('a\\u001b[31mred\\u001b]0;title\\u0007 \\u009b2J\\u202e\tb\n');
});

test('a reply that breaks off is printed so far, then the error', async () => {
  world.emulator.chat.on('harbour', 'It opens at six.');
  world.emulator.faults.add({ match: {}, respond: { type: 'cutStream', afterEvents: 3 } });
  const { code, out, err } = await run(['ask', 'The harbour?']);

  expect(code).toBe(1);
  expect(out).toMatch(/^It[^.]*\n$/);
  expect(err).toMatch(/^context-gateway: .*\n$/);
  expect(err).not.toContain('error.partial');
});

test.each([
  ['no model', async () => ({ args: [], model: '' }), 'Which model? Pass --model, or set CONTEXT_GATEWAY_MODEL.'],
  ['a missing file', async () => ({ args: ['--file', join(folder, 'apiKey.txt')] }), 'apiKey.txt cannot be read'],
  ['a folder', async () => ({ args: ['--file', folder] }), 'cannot be read: EISDIR'],
  [
    'a file with a NUL',
    async () => ({ args: ['--file', await file('b.bin', 'a\0b')] }),
    'b.bin is not a text in UTF-8. Only such texts can be sent.',
  ],
  [
    'a file in Latin-1',
    async () => ({ args: ['--file', await file('l.txt', Buffer.from('Grüße', 'latin1'))] }),
    'l.txt is not a text in UTF-8',
  ],
  [
    'files that are too large together',
    async () => ({ args: ['--file', await file('h.txt', 'x'.repeat(400_001)), '--file', join(folder, 'h.txt')] }),
    'h.txt is too large: files and standard input may have 800,000 bytes together.',
  ],
  ['an endless file', async () => ({ args: ['--file', '/dev/zero'] }), 'The file /dev/zero is too large'],
])('nothing is sent with %s', async (_, prepare, message) => {
  const { args, model = 'atlas-small' } = (await prepare()) as { args: string[]; model?: string };
  vi.stubEnv('CONTEXT_GATEWAY_MODEL', model);

  for (const command of [['ask', 'Why?'], ['chat']]) {
    const { code, out, err } = await run([...command, ...args], 'Why?\n');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  }
  expect(world.emulator.requests).toEqual([]);
});

test('standard input that is no text is not sent', async () => {
  const { code, err } = await run(['ask', 'Why?'], Buffer.from([0xff, 0xd8]));

  expect({ code, err }).toEqual({
    code: 2,
    err: 'context-gateway: Standard input is not a text in UTF-8. Only such texts can be sent.\n',
  });
});

test('chat takes lines as messages of one conversation, and its files stay instructions', async () => {
  world.emulator.chat.on('six', 'Noted.');
  const pier = await file('pier.txt', 'The pier gets a red lamp.');
  const lines = 'The harbour opens at six.\n\nAnd when does it close?\n';

  const { code, out, err } = await run(['chat', '--system', 'Be short.', '--file', pier], lines);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^Noted\.\n.+\n$/);
  expect(sent().messages).toEqual([
    { role: 'system', content: expect.stringMatching(/Be short\.\s+<file name="pier\.txt">\nThe pier gets/) },
    { role: 'user', content: 'The harbour opens at six.' },
    { role: 'assistant', content: 'Noted.' },
    { role: 'user', content: 'And when does it close?' },
  ]);
});

test("chat --conversation sends the service's context of it", async () => {
  const content = 'We write Parquet.';
  world.emulator.conversations.create({ id: 'talk', messages: [{ id: 'm1', role: 'user', content }] });
  await world.context().pin('talk', 'm1');

  expect((await run(['chat', '--conversation', 'talk'], 'What do we write?\n')).out).toContain('We write Parquet.');
  expect((await run(['chat'], 'What do we write?\n')).out).not.toContain('Parquet');
});

test('line ends of Windows in a reply are line ends', async () => {
  world.emulator.chat.on('lamp', 'Red.\r\nAnd green.');

  expect(await run(['ask', 'Which lamp?'])).toMatchObject({ code: 0, out: 'Red.\nAnd green.\n' });
});

test.each([
  { args: ['ask', ' '], says: 'The question is empty' },
  { args: ['chat', '--conversation', 'nowhere', '--file', '/nowhere/a.txt'], says: 'cannot be read' },
])('$args is refused before anything is sent', async ({ args, says }) => {
  const { code, err } = await run(args, '');

  expect(code).toBe(2);
  expect(err).toContain(says);
  expect(world.emulator.requests).toEqual([]);
});

test('a conversation that does not exist ends the chat before a reply is paid', async () => {
  const { code, out, err } = await run(['chat', '--conversation', 'nowhere'], 'The pier is red. What is red?\n');

  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(/^context-gateway: 404 The conversation does not exist/);
  expect(world.emulator.requests.map(({ path }) => path.split('?')[0])).toEqual(['/api/context']);
});

test('without a terminal, lines are read as they are needed', async () => {
  let read = 0;
  async function* lines() {
    for (; read < 10_000; read += 1) {
      await setImmediate();
      yield Buffer.from('Why?\n');
    }
  }
  world.emulator.faults.add({ match: {}, respond: { type: 'slow', delay: 200 }, times: 1 });
  world.emulator.faults.add({ match: {}, respond: { status: 400 } });

  const ended = run(['chat'], lines());
  await expect.poll(() => world.emulator.requests).toHaveLength(1);
  for (let turn = 0; turn < 100; turn += 1) await setImmediate();
  await world.emulator.clock.advance(200);

  expect((await ended).code).toBe(1);
  expect(read).toBeLessThan(10);
});

test('without a terminal, the first error ends a chat', async () => {
  world.emulator.faults.add({ match: {}, respond: { status: 400, message: 'No\u001b[31m.' }, times: 1 });
  const { code, out, err } = await run(['chat'], 'First?\nSecond?\n');

  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(/^context-gateway: 400 No\\u001b\[31m /);
  expect(world.emulator.requests).toHaveLength(1);
});

test('an input that no window holds is refused in words of the command', async () => {
  const large = await file('large.txt', 'lamp '.repeat(150_000));
  const { code, err } = await run(['chat', '--file', large], 'Why?\n');

  expect(code).toBe(1);
  expect(err).toContain('Shorten the input, send smaller files, or unpin messages.');
});

test('Ctrl-C stops a reply and keeps what arrived; between replies it ends the chat', async () => {
  world.emulator.chat.on('harbour', 'It opens at six, and closes at nine.');
  world.emulator.faults.add({ match: {}, respond: { type: 'cutStream', afterEvents: 4, how: 'stall' }, times: 1 });
  const chat = startNode([builtFile('cli'), 'chat'], environment());
  chat.child.stdin.write('When does the harbour open?\n');
  await expect.poll(() => chat.out).toContain('It');
  chat.child.kill('SIGINT');
  await expect.poll(() => chat.err).toBe('[stopped]\n');
  const kept = chat.out.trimEnd();
  await expect.poll(() => world.last.stoppedBy).toBe('client');

  chat.child.stdin.write('Is the pier red?\n');
  await expect.poll(() => chat.out.split('\n')).toHaveLength(3);
  expect(sent().messages).toMatchObject([{ role: 'user' }, { role: 'assistant', content: kept }, { role: 'user' }]);
  chat.child.kill('SIGINT');

  expect(await chat.ended).toEqual({ code: 0, signal: null });
});

test('Ctrl-C ends ask and its call', async () => {
  world.emulator.faults.add({ match: {}, respond: { type: 'stall' } });
  const ask = startNode([builtFile('cli'), 'ask', 'Why?'], environment());
  ask.child.stdin.end();
  await expect.poll(() => world.emulator.requests).toHaveLength(1);
  ask.child.kill('SIGINT');

  expect(await ask.ended).toEqual({ code: null, signal: 'SIGINT' });
  await expect.poll(() => world.last.stoppedBy).toBe('client');
});
