/**
 * The cases that must pass on every runtime. Plain JavaScript without imports, so that every runtime can load it. `sdk`
 * is the package as that runtime loads it, and `server` the address of `server.js`.
 */
export async function runSuite(sdk, server) {
  const results = [];
  for (const [name, check] of Object.entries(CASES)) {
    const gateway = new sdk.GatewayClient({
      baseURL: `${server}/${name.split(' ')[0]}`,
      apiKey: 'svc_pk_compat_0123456789',
    });
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, 15_000, 'did not end within 15 s');
    });
    try {
      results.push({ name, problem: await Promise.race([check(sdk, gateway, server), late]) });
    } catch (error) {
      results.push({ name, problem: `${error?.name}: ${error?.message}` });
    }
    clearTimeout(timer);
    await gateway.close();
  }
  return results;
}

const messages = [{ role: 'user', content: 'Grüße, 漢字 und 👋' }];

/**
 * Each case returns `undefined` or a description of the problem. The first word of its name is its path at the server.
 */
const CASES = {
  async 'plain call'(_sdk, gateway) {
    const { data, response } = await gateway.chat.completions.create({ model: 'm', messages }).withResponse();
    if (data.choices[0].message.content !== messages[0].content) return `answered ${data.choices[0].message.content}`;
    if (response.rateLimit?.remaining !== 99) return 'no rate limit';
    if (response.attempts.length !== 1) return 'more than one attempt';
  },

  async 'cuts: reads a stream that arrives byte by byte'(_sdk, gateway) {
    const stream = await gateway.chat.completions.create({ model: 'm', messages, stream: true });
    let text = '';
    for await (const piece of stream.textStream) text += piece;
    if (text !== messages[0].content) return `streamed ${text}`;
    if ((await stream.finalCompletion()).usage?.total_tokens !== 3) return 'no usage';
  },

  async 'truncated: a truncated stream is an error that holds the partial completion'(sdk, gateway) {
    const stream = await gateway.chat.completions.create({ model: 'm', messages, stream: true });
    try {
      for await (const _ of stream);
      return 'ended quietly';
    } catch (error) {
      if (!sdk.StreamTruncatedError.is(error)) return `threw ${error.name}`;
      if (error.partial.choices[0].message.content !== 'half') return 'lost the partial answer';
    }
  },

  async 'abort: the signal ends a stream, and the server notices'(_sdk, gateway, server) {
    const controller = new AbortController();
    const stream = await gateway.chat.completions.create(
      { model: 'm', messages, stream: true },
      { signal: controller.signal },
    );
    try {
      for await (const _ of stream) controller.abort(new Error('enough'));
      return 'ended quietly';
    } catch (error) {
      if (error.name !== 'AbortError' || error.cause?.message !== 'enough') return `threw ${error.name}`;
    }
    for (let tries = 0; tries < 50; tries += 1) {
      if ((await (await fetch(`${server}/left`)).json()).left > 0) return undefined;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return 'the server goes on sending';
  },

  async 'upload: a multipart upload arrives byte for byte'(_sdk, gateway) {
    const bytes = new Uint8Array(100_000).map((_, at) => (at * 7) % 256);
    const record = await gateway.files.upload({ file: new Blob([bytes]), purpose: 'test', filename: 'a "b"\r\n.bin' });
    const sum = bytes.reduce((total, byte) => total + byte, 0);
    if (record.bytes !== bytes.length || record.sum !== sum) return `arrived as ${record.bytes} bytes`;
    if (record.purpose !== 'test') return 'lost its purpose';
  },

  async 'streamed: an upload that is a stream arrives byte for byte'(sdk, gateway) {
    const part = new Uint8Array(1_000).fill(7);
    const file = new ReadableStream({
      start(controller) {
        for (let count = 0; count < 100; count += 1) controller.enqueue(part);
        controller.close();
      },
    });
    const outcome = await gateway.files.upload({ file, purpose: 'test' }).catch((error) => error);
    // Browsers cannot stream an upload, so the build for them rejects it.
    if ((globalThis.document !== undefined || sdk.isForBrowsers) && sdk.RequestValidationError.is(outcome))
      return undefined;
    if (outcome.bytes !== 100_000 || outcome.sum !== 700_000) return `gave ${outcome.name}: ${outcome.message}`;
  },

  async 'path: a file on disk is uploaded, or rejected on runtimes without files'(sdk, gateway) {
    const path = globalThis.process?.argv?.[1]; // the program itself; undefined in workerd and browsers
    const outcome = await gateway.files
      .upload({ file: { path: path ?? '/program.js' }, purpose: 'test' })
      .catch((error) => error);
    if (path === undefined && !sdk.RequestValidationError.is(outcome)) return `gave ${outcome.name}`;
    if (path !== undefined && !(outcome.bytes > 100)) return `gave ${outcome.name}: ${outcome.message}`;
    const file = globalThis.Bun?.file(path); // Bun leaves it out of another Blob
    if (file === undefined) return undefined;
    const { bytes } = await gateway.files.upload({ file, purpose: 'test' });
    if (bytes !== outcome.bytes) return `sent ${bytes} bytes of Bun.file()`;
  },

  async 'retry: waits as long as a 429 asks, then succeeds'(_sdk, gateway) {
    const since = Date.now();
    const { response } = await gateway.presets.list().withResponse();
    if (response.attempts.length !== 2) return `${response.attempts.length} attempts`;
    if (Date.now() - since < 1_000) return `came back after ${Date.now() - since} ms instead of 1,000`;
  },

  async 'once: a POST whose kept connection dies is sent once'(_sdk, gateway, server) {
    if (globalThis.document !== undefined) return undefined; // Chromium and Firefox repeat it themselves
    await gateway.request({ method: 'POST', path: '/v1/warm', body: {} });
    const error = await gateway.request({ method: 'POST', path: '/v1/work', body: {} }).catch((one) => one);
    if (error.sent !== 'maybe') return `gave ${error.name}, sent: ${error.sent}`;
    const { worked } = await (await fetch(`${server}/worked`)).json();
    if (worked !== 1) return `arrived ${worked} times`;
  },

  async 'errors: an API error is typed, and does not show the key'(sdk, gateway) {
    try {
      await gateway.presets.execute('none', { input: '', model: 'm' });
      return 'no error';
    } catch (error) {
      if (!(error instanceof sdk.NotFoundError) || !sdk.APIError.is(error)) return `threw ${error.name}`;
      if (error.code !== 'preset_not_found' || error.status !== 404) return 'without its facts';
      if (`${error.message}${error.stack}${JSON.stringify(error)}`.includes('0123456789')) return 'shows the key';
    }
  },

  async 'redirect: is not followed'(sdk, gateway, server) {
    try {
      await gateway.usage.retrieve();
      return 'no error';
    } catch (error) {
      if (!sdk.ContextGatewayError.is(error)) return `threw ${error.name}`;
    }
    if ((await (await fetch(`${server}/trapped`)).json()).trapped > 0) return 'followed it';
  },

  async 'arguments: invalid arguments are rejected before a request is sent'(sdk, gateway) {
    const refused = await gateway.chat.completions
      .create({ model: 'm', messages, temperature: 3 })
      .catch((error) => error);
    if (!sdk.RequestValidationError.is(refused)) return `gave ${refused.name}`;
  },
};
