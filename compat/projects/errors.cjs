/**
 * Every error class exists only once in CommonJS as well: an error from any file of the package is an instance of the
 * class that a program requires. Provokes every class with a call and prints their number.
 */
const assert = require('node:assert');
const { readdirSync } = require('node:fs');
const { dirname, join } = require('node:path');
const sdk = require('context-gateway');
require('context-gateway/schemas');

const isErrorClass = (value) => typeof value === 'function' && value.prototype instanceof Error;
const classes = Object.entries(sdk).filter(([, value]) => isErrorClass(value));

/** Node's build, and that for pages and workers, which Jest with jsdom and Metro load as CommonJS. */
function checkFiles() {
  const dist = dirname(require.resolve('context-gateway'));
  checkFolder(dist, readdirSync(dist), sdk);
  const web = join(dist, 'web');
  checkFolder(web, readdirSync(web, { recursive: true }), require(join(web, 'index.cjs')));
}

function checkFolder(folder, files, index) {
  // Skipped: the program, which would start, and two entries whose optional peers are not installed here.
  for (const file of files.filter((one) => /(?<!^(cli|ai-sdk|otel))\.cjs$/.test(one))) {
    for (const [name, value] of Object.entries(require(join(folder, file))).filter(([, one]) => isErrorClass(one))) {
      const isNew = !(value.name in index) && value.prototype instanceof index.ContextGatewayError; // only in another entry
      if (name.startsWith('$Zod')) continue; // zod is bundled
      assert(isNew || Object.values(index).includes(value), `${file} has a class ${name} of its own`);
    }
  }
}

const messages = [{ role: 'user', content: 'Where do we keep invoices?' }];
const chat = { model: 'atlas-small', messages };
const answer = (body, init) => async () => new Response(body, init);
const events = (text) => answer(text, { headers: { 'content-type': 'text/event-stream' } });

/**
 * A call that fails with each class: through a fault of the emulator if possible, otherwise with a response made here.
 */
function waysToFail(gateway) {
  const create = (fault, options, params) =>
    gateway.chat.completions.create({ ...chat, ...params }, { headers: { 'x-emulator-fault': fault }, ...options });
  const readAll = async (stream) => {
    for await (const _ of await stream);
  };
  const given = (fetch) => new sdk.GatewayClient({ maxRetries: 0, fetch });
  return {
    ConfigurationError: async () => new sdk.GatewayClient({ baseURL: 'http://gateway.example.com' }),
    RequestValidationError: () => gateway.files.upload({ file: { path: '/no/such/file' }, purpose: 'test' }),
    BadRequestError: () => create('400'),
    AuthenticationError: () => new sdk.ContextClient({ sessionToken: 'wrong' }).memory.list(),
    PermissionDeniedError: () => new sdk.GatewayClient({ apiKey: 'svc_sk_wrong' }).presets.list(),
    NotFoundError: () => gateway.chat.completions.create({ ...chat, model: 'none' }),
    RateLimitError: () => create('429=1'),
    InternalServerError: () => create('500'),
    ServiceUnavailableError: () => create('503'),
    APIError: () => create('418'),
    APIConnectionError: () => create('reset'),
    APITimeoutError: () => create('stall', { timeout: 50 }),
    APIAbortError: () => create('stall', { signal: AbortSignal.timeout(50) }),
    StreamTruncatedError: () => readAll(create('cut=3', {}, { stream: true })),
    StreamError: () => readAll(create('error=3', {}, { stream: true })),
    StreamConsumedError: async () => {
      const stream = await gateway.chat.completions.create({ ...chat, stream: true });
      await readAll(stream);
      await readAll(stream);
    },
    ResponseValidationError: () => create('malformed'),
    ResponseTooLargeError: () =>
      readAll(given(events(`data: ${'x'.repeat(9 << 20)}\n\n`)).chat.completions.create({ ...chat, stream: true })),
    ClientClosedError: async () => {
      const closed = new sdk.GatewayClient();
      await closed.close();
      await closed.presets.list();
    },
  };
}

async function main() {
  checkFiles();
  const gateway = new sdk.GatewayClient({ maxRetries: 0, pacing: false });
  const ways = waysToFail(gateway);
  const untried = classes.map(([name]) => name).filter((name) => name !== 'ContextGatewayError' && !(name in ways));
  assert.deepStrictEqual(untried, [], 'classes nobody throws here');
  for (const [name, fail] of Object.entries(ways)) {
    const error = await fail().then(
      () => assert.fail(`${name} was not thrown`),
      (one) => one,
    );
    assert(error instanceof sdk[name], `instead of ${name}: ${error}`);
    assert.strictEqual(error.constructor, sdk[name]);
    assert(error instanceof sdk.ContextGatewayError);
  }

  // The ES module build is a second copy of the package. `is` must recognize its errors too.
  const imported = await import('context-gateway');
  const other = new imported.GatewayClient();
  const error = await other.chat.completions.create({ ...chat, model: 'none' }).catch((one) => one);
  assert(
    sdk.NotFoundError.is(error) && sdk.ContextGatewayError.is(error),
    'is() does not know the errors of a second copy',
  );

  await other.close();
  await gateway.close();
  console.log(classes.length);
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
