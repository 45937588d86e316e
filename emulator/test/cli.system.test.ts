import * as fs from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AT_LENGTH } from '../../test/helpers/endurance.js';
import { type CommandContext, runCommand } from '../src/cli/cli.js';
import { OPTIONS } from '../src/cli/options.js';
import { readOptions } from '../src/cli/read-options.js';
import { optionTable } from '../src/cli/texts.js';
import { launch, start } from './command.js';
import { dataDirectory } from './support.js';

/** Runs the command in this process, and interrupts it as soon as it listens for signals. */
const runIn = async (context: Partial<CommandContext>, ...args: string[]) => {
  const said = { out: '', err: '' };
  const code = await runCommand(args, {
    env: {},
    directory: EMPTY,
    isTerminal: false,
    isInteractive: false,
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    onSignal: (listener) => listener('SIGINT'),
    ...context,
  });
  return { code, ...said };
};
const runHere = (...args: string[]) => runIn({}, ...args);
const EMPTY = dataDirectory();

describe('the command', () => {
  test('keeps serving when its output is closed', async () => {
    const { child, url, secret, interrupt } = await start([]);
    const presets = async () =>
      (await fetch(`${url}/v1/presets`, { headers: { authorization: `Bearer ${secret}` } })).status;

    child.stdout.destroy();

    expect([await presets(), await presets(), await presets()]).toEqual([200, 200, 200]);
    expect(await interrupt()).toBe(0);
  });

  test('prints URL, keys and a working example, adds a sample conversation, and exits with 0 on SIGINT', async () => {
    const { said, url, secret, token, interrupt } = await start(['--seed', 'demo']);

    const body = /-d '(\{"model".*\})'/.exec(said.out)?.[1] ?? '';
    const stream = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body,
    });
    const context = await fetch(`${url}/api/context?conversationId=conv_sample`, {
      headers: { authorization: `Bearer ${token}` },
    });

    const reply = [...(await stream.text()).matchAll(/"content":"(.*?)"/g)].map(([, piece]) => piece).join('');
    expect(reply).toBe('We decided to keep invoices in PostgreSQL.');
    expect((await context.json()).context.metadata.recentMessageCount).toBe(12);
    expect(said.out).toContain(`Inspector    ${url}/_emulator`);
    expect(await interrupt()).toBe(0);
  });

  test('writes a snapshot when it ends, and starts with one', async () => {
    const file = join(dataDirectory(), 'state.json');
    const first = await start(['--export-on-exit', file, '--now', '2026-03-02T09:30:00Z']);
    await fetch(`${first.url}/_emulator/conversations`, { method: 'POST', body: '{"id":"mine"}' });
    await fetch(`${first.url}/_emulator/clock`, { method: 'POST', body: '{"advance":60000}' });
    expect(await first.interrupt()).toBe(0);

    const second = await start(['--import', file, '--now', '2026-03-02T09:30:00Z']);
    const state = await (await fetch(`${second.url}/_emulator/state`)).json();
    expect(state).toEqual(JSON.parse(fs.readFileSync(file, 'utf8')));
    expect(state.clock.time).toBe('2026-03-02T09:31:00.000Z');
    expect(await second.interrupt()).toBe(0);
  });

  test.skipIf(process.platform === 'win32')('an export keeps the mode of the file, and links to it', async () => {
    const directory = dataDirectory();
    const at = (name: string) => join(directory, name);
    fs.mkdirSync(at('inner'));
    fs.writeFileSync(at('old.json'), 'old');
    fs.chmodSync(at('old.json'), 0o640);
    fs.symlinkSync('old.json', at('link'));
    fs.symlinkSync('inner/new.json', at('link to nothing yet'));

    for (const file of [at('link'), at('link to nothing yet')])
      expect(await runHere('--port', '0', '--export-on-exit', file)).toMatchObject({ code: 0 });

    for (const [file, mode] of [
      ['old.json', 0o640],
      ['inner/new.json', 0o600],
    ] as const) {
      expect(JSON.parse(fs.readFileSync(at(file), 'utf8'))).toHaveProperty('seed');
      expect(fs.statSync(at(file)).mode & 0o777).toBe(mode);
    }
    expect(fs.readdirSync(directory).sort()).toEqual(['inner', 'link', 'link to nothing yet', 'old.json']);
    expect([fs.readlinkSync(at('link')), fs.readdirSync(at('inner'))]).toEqual(['old.json', ['new.json']]);
  });

  test.skipIf(process.platform === 'win32')('an export to a pipe is written to it', async () => {
    const piped = { within: ['sh', '-c', '"$@" | cat', 'sh'] };
    const { said, ended } = launch(['exec', 'true', '--quiet', '--export-on-exit', '/dev/stdout'], piped);

    expect(await ended).toBe(0);
    expect(JSON.parse(said.out)).toHaveProperty('seed');
    expect(said.err).toBe('');
  });

  test('says why it cannot import or export a snapshot', async () => {
    const file = join(EMPTY, 'none', 'state.json');
    const broken = join(dataDirectory(), 'state.json');
    fs.writeFileSync(broken, '{"seed":');

    const problem = async (...args: string[]) => {
      const { code, err } = await runHere('--port', '0', '--quiet', ...args);
      return `${code} ${err}`;
    };

    expect(await problem('--import', file)).toContain(`2 context-gateway-emulator: ${file}: cannot read the file`);
    expect(await problem('--import', broken)).toMatch(/^2 .*not valid JSON/);
    expect(await problem('--export-on-exit', file)).toContain(`1 context-gateway-emulator: cannot write ${file}`);
  });

  test.runIf(AT_LENGTH)('with --now ends a delay after real time, because no one advances the clock', async () => {
    const { url, interrupt } = await start(['--now', '2026-03-02T09:30:00Z', '--latency', '5']);
    const response = await fetch(`${url}/v1/presets`, { headers: { 'x-emulator-fault': 'delay=5' } });

    expect(response.status).toBe(401);
    expect(response.headers.get('date')).toBe('Mon, 02 Mar 2026 09:30:00 GMT');
    expect(await interrupt()).toBe(0);
  });

  test.skipIf(process.platform === 'win32')('ends in good order with the shell in which npm started it', async () => {
    const file = join(dataDirectory(), 'state.json');
    // The shell does not pass the signal on, and the pipes are open until both have ended.
    const within = ['sh', '-c', 'npm_command=exec "$@"; :', 'sh'];
    const { child, ended, until } = launch(['--port', '0', '--export-on-exit', file], { within });
    await until('Ctrl+C');

    child.kill('SIGTERM');

    expect(await ended).toBe('SIGTERM');
    expect(JSON.parse(fs.readFileSync(file, 'utf8')).conversations).toHaveLength(1);
  });

  test('listens for signals before it prints anything', async () => {
    const order: string[] = [];
    const context: Partial<CommandContext> = {
      out: () => void order.push('greeting'),
      onSignal: (listener) => {
        order.push('signals');
        listener('SIGINT');
      },
    };

    const { code } = await runIn(context, '--port', '0', '--quiet');

    expect([code, ...order]).toEqual([0, 'signals', 'greeting']);
  });

  test.runIf(AT_LENGTH)(
    'ends by an early SIGINT with 0, or by the signal before anything is started, and loses nothing',
    async () => {
      const data = dataDirectory();
      const first = await start(['--data', data]);
      expect(await first.interrupt()).toBe(0);

      for (let wait = 0; wait <= 280; wait += 40) {
        const { child, ended } = launch(['--port', '0', '--data', data]);
        await new Promise((resolve) => setTimeout(resolve, wait));
        child.kill('SIGINT');
        expect([0, 'SIGINT']).toContain(await ended);
      }

      const last = await start(['--data', data]);
      expect([last.secret, last.token]).toEqual([first.secret, first.token]);
      expect(await last.interrupt()).toBe(0);
    },
  );

  test.each([
    { args: ['--port', '0'], code: 0, because: 'nothing was started' },
    { args: ['exec', 'true'], code: 130, because: 'the command has not run' },
  ])('ends with $code on a SIGINT while it loads, because $because', async ({ args, code }) => {
    // As soon as it listens for all signals. Emitted, because from Node 24 on no real one arrives before all is loaded.
    const interruption =
      'process.on("newListener", (name) => name === "SIGHUP" && queueMicrotask(() => process.emit("SIGINT", "SIGINT")))';
    const { ended, said } = launch(args, { node: ['--import', `data:text/javascript,${interruption}`] });

    expect([await ended, said.out]).toEqual([code, '']);
  });

  test('keeps its state in the data directory across restarts', async () => {
    const data = dataDirectory();
    const first = await start(['--data', data]);
    const memory = (url: string, token: string, init: RequestInit = {}) =>
      fetch(`${url}/api/memory`, { ...init, headers: { authorization: `Bearer ${token}` } });
    await memory(first.url, first.token, { method: 'POST', body: '{"type":"fact","key":"a","content":"kept"}' });
    expect(await first.interrupt()).toBe(0);

    const second = await start(['--data', data]);

    expect([second.secret, second.token]).toEqual([first.secret, first.token]);
    expect((await (await memory(second.url, second.token)).json()).memories[0].content).toBe('kept');
    expect(await second.interrupt()).toBe(0);
  });

  test('passes its flags to the emulator', async () => {
    const directory = dataDirectory();
    const seed = join(directory, 'seed.json');
    fs.writeFileSync(
      seed,
      JSON.stringify({ conversations: [{ id: 'ours', messages: [] }], replies: [{ match: 'ping', reply: 'pong' }] }),
    );
    const upstream = ['--upstream', 'http://127.0.0.1:1/v1', '--model-map', 'atlas-small=tiny'];
    const flags = ['--seed-file', seed, '--limits', 'gateway=7,compact=1', '--strict', '--latency', '1', ...upstream];
    const { said, url, secret, interrupt } = await start([...flags, '--assume', 'rate-limit-reset=delta-seconds']);
    const send = (body: object) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}` },
        body: JSON.stringify(body),
      });
    const messages = [{ role: 'user', content: 'ping' }];

    const known = await send({ model: 'atlas-small', messages });
    const unknown = await send({ model: 'atlas-small', messages, top_k: 3 });
    const away = await send({ model: 'atlas-small', messages: [{ role: 'user', content: 'x' }] });

    expect((await known.json()).choices[0].message.content).toBe('pong');
    expect(known.headers.get('x-ratelimit-limit')).toBe('7');
    expect(Number(known.headers.get('x-ratelimit-reset'))).toBeLessThanOrEqual(60);
    expect((await unknown.json()).error).toMatchObject({ param: 'top_k', code: 'unknown_parameter' });
    expect((await away.json()).error.code).toBe('upstream_unavailable');
    expect(said.out).toContain('conversationId=ours');
    expect(await interrupt()).toBe(0);
  });

  test('reports a port in use in one line and exits with 1', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;

    const answer = await runHere('--port', String(port));

    taken.close();
    const err = `context-gateway-emulator: port ${port} on 127.0.0.1 is in use; choose another with --port\n`;
    expect(answer).toEqual({ code: 1, out: '', err });
  });

  test.each([
    { args: ['--nope'], says: '--nope' },
    { args: ['--port', '70000'], says: '--port' },
    { args: ['extra'], says: 'extra' },
    { args: ['--limits', 'gateway'], says: '--limits' },
    { args: ['--pace', 'quick'], says: '--pace' },
    { args: ['--assume', 'toString=x'], says: 'session-header' },
    { args: ['--assume', 'session-header=a b'], says: 'a b' },
    { args: ['--assume', 'publishable=GET /v1/nothing'], says: 'unknown endpoint GET /v1/nothing' },
    { args: ['--cors', 'app.example.com'], says: 'app.example.com' },
    { args: ['--seed-file', '/nowhere.json'], says: 'cannot read the file' },
    { args: ['--upstream-key', 'x'], says: '--upstream' },
    { args: ['--record', 'x', '--replay', 'y'], says: 'cannot be combined' },
    { args: ['--record', 'x'], says: 'upstream' },
    { args: ['--data', '/dev/null/x'], says: '/dev/null' },
    // Here the system calls a directory missing that cannot be created.
    ...(fs.existsSync('/proc/self') ? [{ args: ['--data', '/proc/nope'], says: 'cannot write to /proc/nope' }] : []),
    { args: ['--prot', '1'], says: 'did you mean --port?' },
    { args: ['--no-port'], says: '--no-port' },
    { args: ['--limits', 'gatewy=1'], says: 'did you mean gateway?' },
    { args: ['--pace', '10:long'], says: '--pace 10:long: ttft: expected a number of at least 0' },
    { args: ['--now', 'yesterday'], says: '--now yesterday: not a time' },
    { args: ['--import', 'x.json', '--seed-file', 'y.json'], says: 'cannot be combined' },
    { args: ['--control-token', 'short'], says: 'controlToken' },
    { args: ['exec'], says: 'exec "npm test"' },
    { args: ['exec', 'npm', 'test'], says: 'exec "npm test"' },
  ])('rejects $args in one line and exits with 2', async ({ args, says }) => {
    const { code, err } = await runHere(...args);

    expect(code).toBe(2);
    expect(err).toContain(says);
    expect(err.trimEnd()).not.toContain('\n');
  });

  test('reads options from flags first, then from variables, then from the config file', async () => {
    const directory = dataDirectory();
    const config = {
      $schema: 'https://example.com/schema.json',
      port: 0,
      plan: 'enterprise',
      seed: 'file',
      seedFile: 'first.json',
      limits: { compact: 2 },
      cors: ['https://app.example.com'],
      assume: { 'list-form': 'bare' },
      strict: true,
    };
    fs.writeFileSync(join(directory, 'first.json'), '{"conversations":[{"id":"ours"}]}');
    const file = join(directory, 'context-gateway-emulator.config.json');
    fs.writeFileSync(file, JSON.stringify(config));
    const read = (env: Record<string, string>, ...args: string[]) => readOptions(args, env, directory).options;
    const env = { CONTEXT_GATEWAY_EMULATOR_SEED: 'env', CONTEXT_GATEWAY_EMULATOR_LIMITS: 'gateway=7', PATH: '/bin' };

    const { $schema: _, ...given } = config;
    const taken = { seedFile: join(directory, 'first.json'), cors: { origins: ['https://app.example.com'] } };
    expect(read({})).toEqual({ ...given, ...taken });
    expect(read(env)).toMatchObject({ seed: 'env', limits: { gateway: 7 }, plan: 'enterprise' });
    expect(read(env, '--seed', 'flag', '--no-strict')).toMatchObject({ seed: 'flag', strict: false });
    expect(read({ CONTEXT_GATEWAY_EMULATOR_STRICT: 'false', CONTEXT_GATEWAY_EMULATOR_SEED: '' })).toMatchObject({
      strict: false,
      seed: 'file',
    });
    for (const { variable } of OPTIONS) expect(variable).toMatch(/^CONTEXT_GATEWAY_EMULATOR_[A-Z_]+$/);
    const { out } = await runIn({ directory }, '--config', file);
    expect(out).toContain('conversationId=ours');
  });

  test('ignores the service address that Kubernetes sets as the port variable', () => {
    const env = {
      CONTEXT_GATEWAY_EMULATOR_PORT: 'tcp://10.0.0.1:4010',
      CONTEXT_GATEWAY_EMULATOR_SERVICE_HOST: '10.0.0.1',
      CONTEXT_GATEWAY_EMULATOR_PORT_4010_TCP_ADDR: '10.0.0.1',
    };

    expect(readOptions([], env, EMPTY).options).toEqual({});
  });

  test.each([
    { env: { PORT: 'http' }, says: 'CONTEXT_GATEWAY_EMULATOR_PORT http: not a whole number up to 65535' },
    { env: { PROT: '1' }, says: 'EMULATOR_PROT: unknown; did you mean CONTEXT_GATEWAY_EMULATOR_PORT?' },
    { env: { STRICT: 'yes' }, says: 'CONTEXT_GATEWAY_EMULATOR_STRICT yes: expected true or false' },
    { env: { CONFIG: 'nowhere.json' }, says: 'nowhere.json: cannot read the file' },
    { config: '{', says: 'config.json: not valid JSON' },
    { config: '{"prot":1}', says: 'config.json: prot: unknown; did you mean port?' },
    { config: '{"port":"http"}', says: 'config.json: port: not a whole number up to 65535' },
    { config: '{"seedFile":""}', says: 'config.json: seedFile: empty' },
    { config: '{"seedFile":["a","b"]}', says: 'config.json: seedFile: expected a text' },
    { config: '{"modelMap":{"a":""}}', says: 'config.json: modelMap.a: empty' },
    { config: '{"limits":{"gatewy":1}}', says: 'config.json: limits.gatewy: unknown; did you mean gateway?' },
    { config: '{"pace":{"ttft":-1}}', says: 'config.json: pace.ttft: expected a number of at least 0' },
    { config: '[]', says: 'config.json: expected an object' },
  ])('rejects $env $config in one line that names the place', async ({ env = {}, config, says }) => {
    const directory = dataDirectory();
    if (config !== undefined) fs.writeFileSync(join(directory, 'context-gateway-emulator.config.json'), config);
    const variables = Object.entries(env).map(([name, value]) => [`CONTEXT_GATEWAY_EMULATOR_${name}`, value]);

    const { code, err } = await runIn({ directory, env: Object.fromEntries(variables) });

    expect(code).toBe(2);
    expect(err).toContain(says);
    expect(err.trimEnd()).not.toContain('\n');
  });

  test('does not print a secret', async () => {
    const { err } = await runIn({ env: { CONTEXT_GATEWAY_EMULATOR_CONTROL_TOKEN: 'top one' } });

    expect(err).toContain('controlToken');
    expect(err).not.toContain('top one');
  });

  test('suggests --control-token if other machines cannot reach the control plane', async () => {
    const open = ['--host', '0.0.0.0', '--port', '0'];

    expect((await runHere(...open)).out).toContain('add --control-token TEXT');
    expect((await runHere(...open, '--control-token', 'a-long-token')).out).not.toContain('--control-token');
    expect((await runHere('--port', '0')).out).not.toContain('--control-token');
  });

  test('prints its options in the help and in the documentation, and its version', async () => {
    const help = await runIn({ env: { CONTEXT_GATEWAY_EMULATOR_PORT: 'abc' } }, '--help');

    expect(help).toMatchObject({ code: 0, out: expect.stringContaining('--seed TEXT'), err: '' });
    for (const { about } of OPTIONS) expect(help.out).toContain(about);
    expect(fs.readFileSync(new URL('../docs/command.md', import.meta.url), 'utf8')).toContain(optionTable());
    expect(await runHere('--version')).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});
