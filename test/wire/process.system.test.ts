import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { isTried } from '../helpers/endurance.js';
import { engines } from '../helpers/engines.js';
import { builtURL } from '../helpers/programs.js';
import { bytesOf, eventOf, json, openStream } from './behaviours.js';
import { atEnd, stall } from './fault-server.js';
import { KEY, serve, until } from './world.js';

describe('in a process of its own', () => {
  const world = serve();

  /** Runs a program. Resolves to its output and the time it kept running after it printed `done`. */
  function run(program: string, engine = '', before = ''): Promise<{ output: string; lingered: number }> {
    const start = `import { GatewayClient, toEventStream } from ${JSON.stringify(builtURL('context-gateway'))};
      process.on('unhandledRejection', (error) => console.log('UNHANDLED', error));
      process.on('warning', (warning) => console.log('WARNING', warning));
      const given = { baseURL: '${world.server.url}', apiKey: '${KEY}' };
      const options = process.argv[1] === 'fetch' ? { ...given, fetch: globalThis.fetch } : given;
      const client = new GatewayClient(options);
      const get = (more) => client.request({ method: 'GET', path: '/v1/things' }, more);`;
    const args = ['--input-type=module', '-e', `${start}\n${program}`, engine];
    return new Promise((done) => {
      let doneAt = 0;
      const child = execFile(
        before === '' ? process.execPath : 'sh',
        [...(before === '' ? [] : ['-c', `${before} exec "$@"`, 'sh', process.execPath]), ...args],
        { cwd: tmpdir() },
        (error, stdout, stderr) => {
          done({ output: `${stdout}${stderr}${error?.code ?? ''}`, lingered: performance.now() - doneAt });
        },
      );
      child.stdout?.on('data', () => {
        doneAt = performance.now();
      });
    });
  }

  const slow = atEnd(({ socket }) => void setTimeout(() => socket.write(bytesOf(200, '{}')), 300));

  test.skipIf(process.platform === 'win32').each(['', 'fetch'])(
    'that has used up its open files, each call says what to raise (%s)',
    async (engine) => {
      world.server.answers(...Array.from({ length: 200 }, () => slow));
      const program = `await get();
        const { openSync, closeSync } = await import('node:fs');
        const open = [];
        try { for (;;) open.push(openSync('/dev/null')); } catch {}
        const error = await new GatewayClient({ ...options, maxRetries: 0 }).request({ method: 'GET', path: '/v1/things' }).catch((error) => error);
        for (const file of open) closeSync(file);
        console.log('done', error.message, error.sent);
        process.exit();`;

      const { output } = await run(program, engine, 'ulimit -n 100; ');

      expect(output).toMatch(
        /this process may not open more files and connections; raise its limit \(ulimit -n.*EMFILE.* no$/m,
      );
    },
  );

  test.each([
    ['a closed client', json({}), `await get(); await client.close(); console.log('done');`, 'done'],
    ['kept connections without close()', json({}), `await get(); await get(); console.log('done');`, 'done'],
    ['the end of a call in progress', slow, `console.log('done', JSON.stringify(await get()));`, 'done {}'],
    [
      'close() with calls before and in their response',
      [stall(), openStream()],
      `const calls = [get(), get()].map((call) => call.catch((error) => error.name));
      await new Promise((go) => setTimeout(go, 200));
      await client.close();
      console.log('done', ...new Set(await Promise.all(calls)));`,
      'done ClientClosedError',
    ],
    [
      'an aborted call, whose derived promises are left',
      stall(),
      `const controller = new AbortController();
      const call = get({ signal: controller.signal });
      call.withResponse().catch(() => {});
      setTimeout(() => controller.abort(), 100);
      await call.finally(() => {}).catch((error) => console.log('done', error.name));`,
      'done AbortError',
    ],
  ])('%s lets the process exit, without an unhandled rejection', async (_, behaviour, program, printed) => {
    world.server.answers(...[behaviour].flat());

    const { output, lingered } = await run(program);

    expect(output).toBe(`${printed}\n`);
    expect(lingered).toBeLessThan(3_000);
  });

  test('a pending connection lets the process exit after an abort', async () => {
    world.server.onConnection = () => true;

    const { output, lingered } = await run(`
      const other = new GatewayClient({ ...given, baseURL: 'https://127.0.0.1:${world.server.port}' });
      const call = other.request({ method: 'GET', path: '/v1/x' }, { signal: AbortSignal.timeout(300) });
      console.log('done', await call.catch((error) => error.name));`);

    expect(output).toBe('done AbortError\n');
    expect(lingered).toBeLessThan(2_000);
  });

  const asked = `{ model: 'm', messages: [{ role: 'user', content: 'hi' }], stream: true }, { streamIdleTimeout: 100 }`;

  const leavings = [
    {
      what: 'a stream that is read in part and dropped',
      events: [eventOf('a'), eventOf('b')],
      program: `const stream = await client.chat.completions.create(${asked});
      await stream[Symbol.asyncIterator]().next();
      console.log('done');`,
    },
    {
      what: 'a relay whose browser has disconnected',
      events: [eventOf('x'.repeat(20_000)).repeat(500)], // more than the pipe holds
      program: `const { createServer, get: ask } = await import('node:http');
      const { Readable } = await import('node:stream');
      const relay = createServer(async (_, response) => {
        const stream = await client.chat.completions.create(${asked});
        Readable.fromWeb(toEventStream(stream)).pipe(response);
      }).listen(0, '127.0.0.1', () => {
        const request = ask(relay.address(), (response) =>
          response.once('data', () => {
            request.destroy();
            relay.close();
            console.log('done');
          }),
        );
        request.on('error', () => {});
      });`,
    },
  ];
  const rows = engines.filter(isTried).flatMap(({ engine }) => leavings.map((row) => ({ ...row, engine })));

  test.each(rows)('$what lets the process exit ($engine)', async ({ events, program, engine }) => {
    world.server.answers(openStream(...events));

    expect((await run(program, engine)).output).toBe('done\n');
    await until(() => world.server.used === 0);
  });
});
