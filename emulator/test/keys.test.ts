import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atLength } from '../../test/helpers/endurance.js';
import { redact } from '../src/base/redact.js';
import { secretsFrom } from '../src/base/secrets.js';
import { requestEvents } from '../src/control/page/request-events.js';
import type { LogEntry } from '../src/http/log/log-entry.js';
import { LOGGED_BYTES, RequestLog } from '../src/http/log/request-log.js';
import type { Outcome } from '../src/http/log/request-record.js';
import { SentBody } from '../src/http/log/sent-body.js';
import type { Emulator, EmulatorOptions, FaultResponse } from '../src/index.js';
import { callsTo, openStream, testEmulator } from './support.js';

/** A text with a key, and its secret parts. */
interface Key {
  text: string;
  secrets: readonly string[];
}

/** Letters and digits as in a key. Not shrunk: a key of equal letters looks like a word. */
const secret = fc.noShrink(
  fc
    .array(fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'), {
      minLength: 28,
      maxLength: 44,
    })
    .map((letters) => letters.join('')),
);

/** A secret of another service in a header. Nothing else says that it is one. */
const OPAQUE = 'Kq93"Zt7x/+%2=LmXw2aVb';

const prefixed = ['svc_sk_', 'svc_pk_', 'session_local_', 'sk-', 'sk-proj-', 'sk-ant-api03-', 'gsk_', 'hf_', 'xai-'];

const anyKey: fc.Arbitrary<Key> = fc.oneof(
  fc.tuple(fc.constantFrom(...prefixed, 'AIza'), secret).map(([prefix, one]) => ({
    text: prefix + one,
    secrets: [one],
  })),
  fc.tuple(secret, secret, secret).map((parts) => ({ text: `eyJ${parts.join('.')}`, secrets: parts })),
  fc
    .tuple(fc.constantFrom('Bearer ', 'bearer ', 'Bearer\t'), secret, fc.constantFrom('', '~', '/', '+', '=', '.'))
    .map(([scheme, one, sign]) => ({
      text: `${scheme}${one.slice(0, 12)}${sign}${one.slice(12)}=`,
      secrets: [one.slice(0, 12), one.slice(12)],
    })),
  fc
    .tuple(
      fc.constantFrom('postgres://u', 'amqp://', 'https://a.b', 'mongodb+srv://x-y'),
      fc.array(fc.constantFrom(...",;:!$&'()*+=|#?@~^[]{}%€"), { maxLength: 2 }),
      secret,
      fc.constantFrom('db/x', 'db:5432', 'a.example?b=1'),
    )
    .map(([start, [first = '', second = ''], one, host]) => ({
      text: `${start}:${first}${one.slice(0, 12)}${second}${one.slice(12)}@${host}`,
      secrets: [one.slice(0, 12), one.slice(12)],
    })),
  fc.constant({ text: OPAQUE, secrets: ['LmXw2aVb'] }),
);

/** What may stand beside a key. */
const sign = fc.constantFrom(
  ...' \n\t_-=:;,.!?*`\'"<>()[]{}|/\\&#@~^$+%…é日“',
  ...['%3d', '%3D', '%0A', '%22', '%253d', '%5Cn', '\\n', '\\"', '\\\\"', '\\u0022', '\\x3d', '\u001b[31m'],
);

/** Texts that are no keys, although some begin like one. */
const ORDINARY = [
  'hello',
  'hf_hub_download_with_retries',
  'sk-learn',
  'desk-top-2024',
  'Bearer of good news',
  'https://example.com/a?b=c@d',
  'https://example.com:8080?mail=a@b.example',
  'ssh://git@host.example/x:y',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: code of others
  'const url = `https://${user}:${password}@host`;',
  '100%25 of 日本語 🙂 C:\\new',
];

/** JSON in JSON, or in a URL. */
const nested = fc.array(
  fc.constantFrom(
    (text: string) => JSON.stringify(text).slice(1, -1),
    (text: string) => encodeURIComponent(text),
  ),
  { maxLength: 3 },
);

const anyText = fc
  .tuple(fc.constantFrom(...ORDINARY), sign, anyKey, sign, fc.constantFrom(...ORDINARY), nested)
  .map(([before, left, { text, secrets }, right, after, layers]) => ({
    text: layers.reduce((inner, layer) => layer(inner), `${before}${left}${text}${right}${after}`),
    secrets,
  }));

/** Where an output has five characters of a secret in a row. */
function leaks(outputs: Record<string, string>, secrets: readonly string[]): string[] {
  const parts = secrets.flatMap((one) => Array.from({ length: one.length - 4 }, (_, i) => one.slice(i, i + 5)));
  return Object.entries(outputs).flatMap(([name, text]) => {
    const part = parts.find((one) => text.includes(one));
    return part === undefined ? [] : [`${name}: ${part} in …${text.slice(Math.max(0, text.indexOf(part) - 300))}`];
  });
}

/** What the texts of a stream's events say: the pieces of the first choice, without those of its second tool call. */
function saidIn(events: readonly string[]): string {
  const pieces = events.flatMap((event) => {
    if (!/^data: \{.*\}\s*$/.test(event)) return [];
    const [choice] = JSON.parse(event.slice('data: '.length)).choices;
    if (choice?.index !== 0) return [];
    return [choice.delta.content ?? '', choice.delta.tool_calls?.[0]?.function.arguments ?? ''];
  });
  return pieces.join('');
}

/** The events of a stream, as its follower got them. */
function followedEvents(text: string): string[] {
  return [...text.matchAll(/^event: sent\ndata: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? '').text);
}

/** What is said about the last request. */
async function outputsOf(emulator: Emulator): Promise<Record<string, string>> {
  const read = async (path: string) => (await emulator.fetch(`http://emulator.test/_emulator${path}`)).text();
  const request = emulator.requests.at(-1);
  const id = request?.requestId;
  const followed = await read(`/requests/${id}/events`);
  return {
    record: await read(`/requests/${id}`),
    said: saidIn(request?.response?.events?.map(({ text }) => text) ?? []),
    followed,
    followedText: saidIn(followedEvents(followed)),
    case: await read(`/case?requests=${id}&state=false`),
    har: await read(`/har?requests=${id}`),
    found: await read('/search/requests?q=e&limit=1'),
  };
}

/** An emulator that repeats what it is told. */
function parrot(options: EmulatorOptions = {}): Emulator {
  const emulator = testEmulator({ limits: { gateway: 1e6 }, maxTokens: 1e6, ...options });
  emulator.chat.on(/(?:)/, ({ messages }) => String(messages.at(-1)?.content));
  return emulator;
}

/** Headers with a valid key, and with a secret of another service. */
const headersFor = (emulator: Emulator) => ({
  authorization: `Bearer ${emulator.apiKeys.secret}`,
  'content-type': 'application/json',
  'x-api-key': OPAQUE,
});

test('no text has a part of a key, whatever stands beside it and however it is written, whole or cut', () => {
  const known = secretsFrom([OPAQUE]);
  const property = fc.property(anyText, fc.nat(), ({ text, secrets }, place) => {
    const cut = redact(text.slice(0, place % (text.length + 1)), known, true);

    expect(leaks({ whole: redact(text, known), cut }, secrets)).toEqual([]);
  });
  fc.assert(property, { numRuns: atLength(1000, 50_000), endOnFailure: true });
});

test('no output has a part of a key, whatever stands beside it and however it is written', async () => {
  const property = fc.asyncProperty(anyText, async ({ text, secrets }) => {
    const emulator = parrot({ pace: { chunkBy: 'char' } });
    const headers = headersFor(emulator);
    await (await openStream(emulator, text, { [text]: { inner: [text] } }, { headers })).text();
    const streamed = await outputsOf(emulator);
    await emulator.fetch(`http://emulator.test/v1/usage?start_date=${encodeURIComponent(text)}`, { headers });
    const asked = await outputsOf(emulator);

    expect(leaks(streamed, secrets)).toEqual([]);
    expect(leaks(asked, secrets)).toEqual([]);
  });
  await fc.assert(property, { numRuns: atLength(12, 1000), endOnFailure: true });
});

test('no output has a part of a key that is cut, at 64 KB or by a fault', async () => {
  const path = 'http://emulator.test/v1/chat/completions';
  const property = fc.asyncProperty(anyText, fc.nat(), fc.boolean(), async ({ text, secrets }, place, isMalformed) => {
    const emulator = parrot();
    const headers = headersFor(emulator);
    // The first half of a longer response, or the first 64 KB of a body and of its response.
    const shown = place % (text.length + 1);
    const fault = isMalformed ? { 'x-emulator-fault': '{"type":"malformed"}' } : undefined;
    const start = '{"model":"atlas-small","messages":[{"role":"user","content":"';
    const room = isMalformed ? 0 : LOGGED_BYTES - start.length - Buffer.byteLength(text.slice(0, shown));
    const content = JSON.stringify(`${'x '.repeat(room / 2)}${text}${isMalformed ? 'y'.repeat(shown) : ''}`);
    const body = `${start}${content.slice(1)}}]}`;
    await (await emulator.fetch(path, { method: 'POST', headers: { ...headers, ...fault }, body })).text();

    expect(leaks(await outputsOf(emulator), secrets)).toEqual([]);
  });
  // Too little to be taken for a key, if it were whole.
  const start = { text: 'hello hf_Zq7Xw2Lm9Kp4Rt6Yb8Nc3Vd5', secrets: ['Zq7Xw2Lm9Kp4Rt6Yb8Nc3Vd5'] };
  const examples = [true, false].map((isMalformed): [Key, number, boolean] => [
    start,
    'hello hf_Zq7Xw'.length,
    isMalformed,
  ]);
  await fc.assert(property, { numRuns: atLength(12, 1000), examples, endOnFailure: true });
});

const eventOf = (choice: object): string => `data: ${JSON.stringify({ id: 'c', choices: [choice] })}\n\n`;
const content = (text: string, index = 0): string => eventOf({ index, delta: { content: text } });
const toolCall = (text: string, index: number, choice = 0): string =>
  eventOf({ index: choice, delta: { tool_calls: [{ index, function: { arguments: text } }] } });

/** Events that may come between two pieces. */
const NOISE = [
  ': keep-alive\n\n',
  'data: {"id":"c","choices":[],"usage":{"prompt_tokens":1}}\n\n',
  'data: {"choices":[{"delta":{"content":"another choice, and its index last "},"index":1}]}\n\n',
  content('', 2),
  toolCall('{"b":', 1),
  toolCall('{"c":', 0, 1),
];

/** A response that is sent event by event. */
function sentResponse() {
  const log = new RequestLog(() => undefined);
  const entry: LogEntry = {
    ...{ requestId: 'req_1', method: 'POST', path: '/v1/chat/completions', headers: ['x-api-key', OPAQUE] },
    ...{ receivedAt: 0, events: 0, outcome: 'pending', isBodyCut: false, isForeign: false },
  };
  const body = new SentBody(LOGGED_BYTES, (index, at, event) => log.sent(entry, index, at, event));
  entry.response = { headers: {}, body };
  log.add(entry);
  return {
    log,
    entry,
    send: (event: string) => body.addText(event, 0),
    end: (outcome: Outcome) => {
      entry.outcome = outcome;
      log.changed(entry);
    },
    follow: () => new Response(requestEvents(log, 'req_1', [])).text(),
    events: () => log.find('req_1')?.response?.events?.map(({ text }) => text) ?? [],
  };
}

const anyStream = fc.record({
  key: anyText,
  sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }),
  noise: fc.array(fc.constantFrom('', ...NOISE), { minLength: 1, maxLength: 9 }),
  write: fc.constantFrom(content, (text: string) => toolCall(text, 0)),
  /** After how many pieces it ends early, and after how many it is followed. */
  end: fc.option(fc.nat({ max: 200 })),
  join: fc.nat({ max: 60 }),
});

/** Cuts a text into pieces, never within a character. */
function piecesOf(text: string, sizes: readonly number[]): string[] {
  const characters = [...text];
  const pieces: string[] = [];
  for (let i = 0; characters.length > 0; i += 1) pieces.push(characters.splice(0, sizes[i % sizes.length]).join(''));
  return pieces;
}

test('no follower of a stream sees a part of a key, whatever comes between its pieces', async () => {
  const property = fc.asyncProperty(anyStream, async ({ key, sizes, noise, write, end, join }) => {
    const { send, end: finish, follow, events } = sentResponse();
    const first = follow();
    const pieces = piecesOf(key.text, sizes).slice(0, end ?? Number.POSITIVE_INFINITY);
    let later: Promise<string> | undefined;
    for (const [i, piece] of pieces.entries()) {
      if (i === join) later = follow();
      const between = noise[i % noise.length] ?? '';
      if (between !== '') send(between);
      send(write(piece));
      if (i % 10 === 0) expect(leaks({ pending: saidIn(events()) }, key.secrets)).toEqual([]);
    }
    finish(end === null ? 'answered' : 'aborted');
    const seen = followedEvents(await first);

    expect(leaks({ seen: saidIn(seen), log: saidIn(events()) }, key.secrets)).toEqual([]);
    expect(seen).toEqual(events());
    if (later !== undefined) expect(followedEvents(await later)).toEqual(seen);
  });
  await fc.assert(property, { numRuns: atLength(50, 5000), endOnFailure: true });
});

test('a key that comes in pieces between heartbeats is hidden', async () => {
  const emulator = parrot({ pace: { chunkBy: 'char', tokensPerSecond: 20, heartbeat: 20 } });
  const response = await openStream(emulator, 'Use sk-proj-Zq7Xw2Lm9Kp4Rt6Yb8Nc3Vd5 now.');
  const path = `http://emulator.test/_emulator/requests/${emulator.requests[0]?.requestId}/events`;
  const followed = emulator.fetch(path).then((answer) => answer.text());
  let isOver = false;
  const sent = response.text().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    emulator.clock.advance(20);
    await new Promise(setImmediate);
  }
  const events = followedEvents(await followed);

  expect(await sent).toContain(': keep-alive');
  expect(events.filter((event) => event.startsWith(':'))).not.toEqual([]);
  expect(saidIn(events)).toBe('Use sk-*** now.');
});

test('a key is hidden in a stream that a fault has changed', async () => {
  const secrets = ['Zq7Xw2Lm9Kp4Rt6Yb8Nc3Vd5'];
  const emulator = parrot({ pace: { chunkBy: 'char' } });
  const headers = headersFor(emulator);
  const stream = [...`Use hf_${secrets} now.`].map((text) => content(text) + content('other', 1)).join('');
  const faults: FaultResponse[] = [
    { type: 'contentType', contentType: 'text/plain' },
    { type: 'garbage', contentType: 'text/event-stream', body: stream },
    // The beginning of the key is in the event that cannot be read.
    ...Array.from({ length: 20 }, (_, i) => ({ type: 'garbleStream' as const, afterEvents: i })),
    ...Array.from({ length: 20 }, (_, i) => ({ type: 'cutStream' as const, afterEvents: i })),
  ];
  for (const fault of faults) {
    const init = { headers: { ...headers, 'x-emulator-fault': JSON.stringify(fault) } };
    await (await openStream(emulator, `Use hf_${secrets} now.`, {}, init)).text().catch(() => {});
    const { events = [], body = '' } = emulator.recentRequests(1).at(-1)?.response ?? {};
    const texts = events.length === 1 || events.length === 0 ? body.split(/(?<=\n\n)/) : events.map(({ text }) => text);
    const whole = texts.filter((text) => /^data: \{.*\}\s*$/.test(text));

    expect(leaks({ [JSON.stringify(fault)]: saidIn(whole) }, secrets)).toEqual([]);
  }
});

test('ordinary text stays as it is', async () => {
  const texts = fc
    .tuple(
      fc.array(fc.tuple(fc.constantFrom(...ORDINARY), fc.constantFrom(' ', '\n', '", "')), {
        minLength: 1,
        maxLength: 4,
      }),
      nested,
    )
    .map(([words, layers]) => layers.reduce((inner, layer) => layer(inner), words.flat().join('')));
  const property = fc.asyncProperty(texts, async (text) => {
    const emulator = parrot({ pace: { chunkBy: 'char' } });
    const headers = headersFor(emulator);
    const sent = await (await openStream(emulator, text, {}, { headers })).text();
    const request = emulator.requests.at(-1);
    const { followed = '' } = await outputsOf(emulator);

    expect(request?.isBodyExact).toBe(true);
    expect(sent.startsWith(request?.response?.body ?? '')).toBe(true);
    expect(followedEvents(followed).join('')).toBe(request?.response?.body);
  });
  await fc.assert(property, { numRuns: atLength(12, 500), endOnFailure: true });
});

test('a follower waits only for what may belong to a key, and not for long', () => {
  const { log, entry, send } = sentResponse();
  const shown: string[] = [];
  log.follow(entry, ({ text }) => shown.push(text));
  const text = 'Take hf_x or sk-y: https://a.b/c is no key, sk-Zq7Xw2Lm9 is ';
  const waits = [...text].map((character, i) => {
    send(content(character));
    return i + 1 - shown.length;
  });

  // What follows the beginning of a key, until it can be none, or is one.
  expect(waits.map(String).join('')).toBe('000000001000000010000000000123000000000000000001234567000000');
  expect(saidIn(shown)).toBe(text.replace('Zq7Xw2Lm9', '***'));
  for (let i = 0; i < 2000; i += 1) send(content(i === 0 ? 'a://b' : 'b'));
  expect(waits.length + 2000 - shown.length).toBeLessThan(1000);
});

test.each([0, 20])('a follower who comes after 64 KB sees no rest of a key (%i bytes too late)', async (room) => {
  const { send, end, follow } = sentResponse();
  send(content('x'.repeat(LOGGED_BYTES - content('').length - room)));
  send(content(' It is hf_Zq7Xw2Lm9'));
  const followed = follow();
  send(content('Kp4Rt6Yb8Nc3Vd5'));
  send(content('Hf1Gj0Sa now.'));
  end('answered');

  const events = followedEvents(await followed);

  expect(saidIn(events.slice(1))).toBe('*** now.');
});

test('a body is cut between two characters', async () => {
  const emulator = parrot();
  for (let i = 0; i < 4; i += 1) {
    await callsTo(emulator).ask(`${'x'.repeat(i)}${'\u{1f511}'.repeat(20_000)}`);
    const { body = '', response } = emulator.recentRequests(1).at(-1) ?? {};
    for (const text of [body, response?.body ?? '']) {
      expect(text).not.toContain('\ufffd');
      expect(Buffer.byteLength(text)).toBeGreaterThan(LOGGED_BYTES - 4);
    }
  }
});

test('a secret that a message of an error cuts is hidden, wherever it is cut', async () => {
  const emulator = parrot();
  for (let i = 80; i < 100; i += 1) {
    await callsTo(emulator).ask(
      'Hello?',
      { model: `${'x'.repeat(i)}opaqueQuokka-6-secret` },
      { 'x-api-key': 'opaqueQuokka-6-secret' },
    );

    expect(emulator.recentRequests(1).at(-1)?.response?.body).not.toContain('opaque');
  }
});

test('names that are alike once they are masked are numbered', async () => {
  const emulator = testEmulator();
  const fields = Object.fromEntries(['a é', 'b ö', 'x x-2', 'c ü', '__proto__'].map((name) => [name, name]));
  await callsTo(emulator).ask('Hello?', fields);
  const messages = ['m 1', 'm 2', 'm 3'].map((id) => ({ id, role: 'user' as const, content: 'x' }));
  emulator.conversations.create({ id: 'talk', messages });

  const { body } = await callsTo(emulator).control('GET', '/case?mask=keys,prompts');

  const [request] = body.requests;
  const names = Object.keys(JSON.parse(request.body));
  expect(names.slice(2)).toEqual(['x x', 'x x-2', 'x x-0', 'x x-3', '__proto__']);
  expect(body.state.conversations.at(-1).messages.map(({ id }: { id: string }) => id)).toEqual([
    'x 0',
    'x 0-2',
    'x 0-3',
  ]);
});
