import {
  ContextClient,
  GatewayClient,
  logTo,
  mapCalls,
  type PinnedMemoryItem,
  readChatCompletionStream,
  toErrorData,
  toErrorResponse,
  toEventStream,
} from 'context-gateway';
import { contextMiddleware, createAiSdkProvider, searchTool, turnToUIMessageStream } from 'context-gateway/ai-sdk';
import {
  type Conversation,
  type ConversationMessage,
  type ConversationOptions,
  createConversation,
  memoryStore,
  type ReplyStream,
  readTurn,
  sources,
  textOf,
  toResponse,
  wordsOf,
} from 'context-gateway/conversation';
import { addSampleConversation, createEmulator } from 'context-gateway-emulator';
import { inJSON, inTables, printable } from '../../src/cli/tables.js';
import { metadata, summary } from '../conversation/samples.js';

/** A function that takes what comes from outside: from the service, a proxy, a page, a store, a user or the command line. */
interface Row {
  /** The public names whose input it is. */
  names: readonly string[];
  /** Milliseconds of one block at 100,000 characters, with the reason. @default 50 */
  block?: number;
  /** By how much twice the input may multiply the time, with the reason. @default 2.6 */
  most?: number;
}
export type TextRow = Row & { text: (text: string) => unknown };
export type ListRow = Row & { list: (texts: string[]) => unknown };

const JSON_TYPE = { 'content-type': 'application/json' };
const EVENTS = { 'content-type': 'text/event-stream' };
const HEAD = { id: 'c', created: 1, model: 'm' };
const USAGE = { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 };
const ASK = { model: 'm', messages: [{ role: 'user' as const, content: 'Hello?' }] };

export const gatewayWith = (answer: (init: RequestInit) => Response): GatewayClient =>
  new GatewayClient({
    ...{ baseURL: 'https://gateway.test', apiKey: 'svc_sk_bounded', maxRetries: 0, pacing: false },
    fetch: async (_, init) => answer(init ?? {}),
  });

export const completion = (content: string, more: object = {}): Response => {
  const choice = { index: 0, message: { role: 'assistant', content, ...more }, finish_reason: 'stop' };
  return Response.json({ ...HEAD, object: 'chat.completion', choices: [choice], usage: USAGE });
};

const chunk = (content: string, finish_reason: string | null = null): string => {
  const choice = { index: 0, delta: { content }, finish_reason };
  return `data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', choices: [choice] })}\n\n`;
};
const END = `${chunk('', 'stop')}data: [DONE]\n\n`;

/** A response whose body comes in pieces. */
function inPieces(pieces: Iterable<string>, headers: Record<string, string> = EVENTS): Response {
  const encoder = new TextEncoder();
  const left = pieces[Symbol.iterator]();
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const { done, value } = left.next();
    if (done) controller.close();
    else controller.enqueue(encoder.encode(value));
  };
  return new Response(new ReadableStream({ pull }), { headers });
}

function* cut(text: string, size = 100): Generator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

/** Reads all, and ignores how it ends: that is tested elsewhere. */
async function drain(all: () => AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>): Promise<void> {
  try {
    for await (const _ of await all());
  } catch {}
}

const failing = async (call: () => PromiseLike<unknown>): Promise<unknown> => {
  try {
    return await call();
  } catch (error) {
    return error;
  }
};

const say = (content: string): ConversationMessage => ({ role: 'user', content });
const lines = (texts: readonly string[]): ConversationMessage[] =>
  texts.map((content, at) => ({ role: at % 2 ? 'assistant' : 'user', content, id: `m${at}` }));

/** For inputs of any length. */
const WIDE = { budget: 1e7, contextWindow: 2e7 };

const talkWith = (messages: ConversationMessage[], more: Partial<ConversationOptions> = {}): Conversation =>
  createConversation({
    ...{ gateway: gatewayWith(() => completion('Noted.')), model: 'm', conversationId: 'c', budget: 2_000 },
    ...{ store: memoryStore({ c: messages }), ...more },
  });

export const contextWith = (requirements: () => string[], pinnedMemory: PinnedMemoryItem[] = []): ContextClient => {
  const context = () => ({
    rollingSummary: summary({ requirements: requirements() }),
    pinnedMemory,
    metadata: metadata(),
  });
  const result = { success: true, previousTokenCount: 100, newTokenCount: 50, tokensRemoved: 50, summaryUpdated: true };
  return new ContextClient({
    ...{ baseURL: 'https://context.test', sessionToken: 'token', maxRetries: 0, pacing: false },
    fetch: async (url) => {
      if (String(url).includes('/compact')) return Response.json({ success: true, result });
      if (String(url).includes('/memory')) return Response.json({ success: true, memories: [] });
      return Response.json({ success: true, context: context() });
    },
  });
};

const replyOf = (pieces: Iterable<string>): ReplyStream => {
  const turn = { text: '', stopped: false, messages: [], report: { recalled: [] } } as never;
  return {
    ...{ id: 'r', text: '', report: undefined },
    final: () => Promise.resolve(turn),
    receipt: () => Promise.resolve(undefined),
    async *[Symbol.asyncIterator]() {
      yield* pieces;
    },
    async *parts() {
      for (const text of pieces) yield { type: 'text', text };
    },
  };
};

const language = (answer: () => Response) => createAiSdkProvider(gatewayWith(answer), { specification: 'v3' })('m');
const CALL = { prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hello?' }] }] } as never;

const withEmulator = async (work: (emulator: ReturnType<typeof createEmulator>) => Promise<unknown>): Promise<void> => {
  const emulator = createEmulator({ seed: 'bounded' });
  await work(emulator);
  await emulator.close();
};

const post = (
  emulator: ReturnType<typeof createEmulator>,
  path: string,
  body: object,
  token: string,
): Promise<Response> =>
  emulator.fetch(
    new Request(`http://emulator.test${path}`, {
      method: 'POST',
      headers: { ...JSON_TYPE, authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    }),
  );

export const TEXT_ROWS: Readonly<Record<string, TextRow>> = {
  textOf: {
    names: ['textOf'],
    text: (text) =>
      textOf({
        content: [
          { type: 'text', text },
          { type: 'text', text },
        ],
      }),
  },
  wordsOf: { names: ['wordsOf'], text: (text) => wordsOf({ content: text, name: 'Ada' }) },
  'a statement of two summaries': {
    names: ['createConversation'],
    text: (text) => {
      let version = 0;
      return talkWith(lines(['Hello.']), { context: contextWith(() => [`${text} ${version++}`]) }).compact();
    },
  },
  'a context': {
    names: ['createConversation'],
    text: (text) => talkWith(lines(['Hello.', 'Hi.']), { ...WIDE, context: contextWith(() => [text]) }).send('And?'),
  },
  'a long message of a history': {
    names: ['createConversation'],
    text: (text) => talkWith([say(text), say('And?')], { budget: 500 }).send('Which harbour?'),
  },
  'a long input': {
    names: ['createConversation'],
    text: (text) => talkWith(lines(['Hello.', 'Hi.']), WIDE).send(`And? ${text}`),
  },
  'a query': {
    names: ['createConversation', 'searchTool'],
    text: (text) => searchTool(talkWith(lines(['The harbour opens.', 'Noted.']))).execute({ query: text }),
  },
  'a message that is searched': {
    names: ['createConversation'],
    text: (text) => talkWith([say(text)]).search('harbour may 4th'),
  },
  'a turn with a long message': {
    names: ['createConversation', 'memoryStore'],
    text: (text) => talkWith([say(text), say('And?')]).send('Which harbour?'),
  },
  'a turn whose reply is long': {
    names: ['createConversation'],
    block: 80, // all pieces are there at once, in up to six times as many characters of JSON
    text: (text) =>
      talkWith([], { gateway: gatewayWith(() => inPieces([...cut(text)].map((piece) => chunk(piece)).concat(END))) })
        .stream('Hello?')
        .final()
        .catch(() => {}),
  },
  'a compaction': {
    names: ['createConversation'],
    text: (text) => {
      let version = 0;
      return talkWith([say(text)], { context: contextWith(() => [`${text} ${version++}`]) }).compact();
    },
  },
  'events of a turn in small pieces': {
    names: ['readTurn'],
    text: (text) => drain(() => readTurn(inPieces(cut(`data: ${JSON.stringify({ type: 'text', text })}\n\n`)))),
  },
  'a turn of lines that are no events': {
    names: ['readTurn'],
    text: (text) => drain(() => readTurn(inPieces(cut(text)))),
  },
  'a reply for a page': { names: ['toResponse'], text: async (text) => (await toResponse(replyOf(cut(text)))).text() },
  'a reply for useChat': {
    names: ['turnToUIMessageStream'],
    text: (text) => drain(() => turnToUIMessageStream(replyOf(cut(text))) as never),
  },
  'a completion': {
    names: ['GatewayClient'],
    text: (text) => gatewayWith(() => completion(text)).chat.completions.create(ASK),
  },
  'a prompt that is refused': {
    names: ['GatewayClient', 'toErrorData', 'toErrorResponse'],
    text: async (text) => {
      const refused = gatewayWith(() => Response.json({ error: { message: `Not this: ${text}` } }, { status: 400 }));
      const error = await failing(() =>
        refused.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: text }] }),
      );
      return [toErrorData(error), toErrorResponse(error), String(error)];
    },
  },
  'an error in plain text': {
    names: ['GatewayClient'],
    text: (text) => failing(() => gatewayWith(() => new Response(text, { status: 502 })).presets.list()),
  },
  'an error page': {
    names: ['GatewayClient'],
    text: (text) =>
      failing(() =>
        gatewayWith(
          () => new Response(`<html><body>${text}`, { status: 502, headers: { 'content-type': 'text/html' } }),
        ).presets.list(),
      ),
  },
  'a response that is no JSON': {
    names: ['ContextClient'],
    text: (text) => {
      const options = { baseURL: 'https://context.test', sessionToken: 'token', maxRetries: 0, pacing: false as const };
      return failing(() =>
        new ContextClient({ ...options, fetch: async () => new Response(text, { headers: JSON_TYPE }) }).retrieve('c'),
      );
    },
  },
  'a stream in small pieces': {
    names: ['GatewayClient'],
    text: (text) =>
      drain(() =>
        gatewayWith(() => inPieces(cut(chunk(text) + END))).chat.completions.create({ ...ASK, stream: true }),
      ),
  },
  'a stream of other lines': {
    names: ['GatewayClient'],
    text: (text) =>
      drain(() => gatewayWith(() => inPieces(cut(text))).chat.completions.create({ ...ASK, stream: true })),
  },
  'a stream that is relayed': {
    names: ['toEventStream', 'readChatCompletionStream'],
    text: async (text) => {
      const stream = await gatewayWith(() =>
        inPieces([...cut(text)].map((piece) => chunk(piece)).concat(END)),
      ).chat.completions.create({ ...ASK, stream: true });
      await drain(() => readChatCompletionStream(new Response(toEventStream(stream), { headers: EVENTS })));
    },
  },
  'arguments of a tool': {
    names: ['createAiSdkProvider'],
    text: (text) => {
      const call = { id: 't', type: 'function', function: { name: 'f', arguments: text } };
      return failing(async () => language(() => completion('', { tool_calls: [call] })).doGenerate(CALL));
    },
  },
  'a stream for the AI SDK': {
    names: ['createAiSdkProvider'],
    text: async (text) => {
      const { stream } = await language(() =>
        inPieces([...cut(text)].map((piece) => chunk(piece)).concat(END)),
      ).doStream(CALL);
      await drain(() => stream as never);
    },
  },
  'a context for the AI SDK': {
    names: ['contextMiddleware'],
    text: (text) =>
      contextMiddleware(talkWith([say(text)])).transformParams?.({
        type: 'generate',
        params: CALL,
        model: {} as never,
      } as never),
  },
  'what a log prints': {
    names: ['logTo'],
    text: (text) => {
      const onEvent = logTo({ debug() {}, info() {}, warn() {}, error() {} } as never) as never;
      const answer = () => new Response(text, { status: 500, headers: { 'x-request-id': 'r' } });
      const logged = gatewayWith(answer).withOptions({ onEvent });
      return failing(() => logged.presets.list());
    },
  },
  'a cell of a table': { names: [], text: (text) => [inTables([{ text }]), inJSON({ text }), printable(text)] },
  'a prompt for the emulator': {
    names: ['createEmulator'],
    most: 4, // it remembers the tokens of words, as many as are in a short text
    text: (text) =>
      withEmulator((emulator) =>
        post(
          emulator,
          '/v1/chat/completions',
          { model: 'atlas-small', messages: [{ role: 'user', content: text }] },
          emulator.apiKeys.secret,
        ),
      ),
  },
  'a message that the emulator compacts': {
    names: ['createEmulator'],
    text: (text) =>
      withEmulator(async (emulator) => {
        emulator.conversations.create({
          id: 'c',
          messages: [say(text), say('And?'), ...lines(Array(40).fill('Remark.'))] as never,
        });
        await post(emulator, '/api/context/compact', { conversationId: 'c', level: 'deep' }, emulator.sessionToken);
      }),
  },
};

export const LIST_ROWS: Readonly<Record<string, ListRow>> = {
  'statements of a context': {
    names: ['createConversation'],
    list: (texts) => talkWith(lines(['Hello.', 'Hi.']), { ...WIDE, context: contextWith(() => texts) }).send('And?'),
  },
  'a compaction of many statements': {
    names: ['createConversation'],
    block: 75, // 10,000 statements are parsed, validated and compared with the last 10,000
    list: (texts) => {
      let version = 0;
      const context = contextWith(() => texts.map((text) => `${text} ${version++}`));
      return talkWith(lines(texts), { context }).compact();
    },
  },
  'a turn of a long conversation': {
    names: ['createConversation', 'memoryStore'],
    list: (texts) => talkWith(lines(texts)).send('Which harbour, item1?'),
  },
  'a search in a long conversation': {
    names: ['createConversation', 'searchTool'],
    list: (texts) => talkWith(lines(texts)).search('harbour item1'),
  },
  'an input of many messages': {
    names: ['createConversation'],
    list: (texts) => talkWith(lines(texts), { budget: 1e7, contextWindow: 2e7 }).send(lines(texts)),
  },
  'an import of many messages': {
    names: ['createConversation'],
    list: (texts) => talkWith([]).add(lines(texts)),
  },
  'a prepared turn with a long history': {
    names: ['createConversation', 'contextMiddleware'],
    list: async (texts) =>
      (await talkWith([]).prepare('Which harbour, item1?', { history: lines(texts) })).finish('Noted.'),
  },
  'an edit of a long conversation': {
    names: ['createConversation'],
    list: (texts) =>
      talkWith([say('Hello?'), ...lines(texts)].map((one, at) => ({ ...one, id: `e${at}` })))
        .edit('e0', 'Edited?')
        .final(),
  },
  'a fork': {
    block: 75, // 10,000 messages are copied
    names: ['createConversation', 'memoryStore'],
    list: (texts) => talkWith(lines(texts)).fork(`m${texts.length - 1}`),
  },
  'sources of a reply': {
    names: ['sources'],
    list: (texts) => sources({ recalled: texts.map((text) => ({ text, score: 1, match: 'words' as const })) }, 1e6),
  },
  'a batch': {
    names: ['mapCalls'],
    list: async (texts) => drain(() => mapCalls(texts, async (one) => one, { concurrency: 50 }) as never),
  },
  'prompts for the AI SDK': {
    names: ['createAiSdkProvider', 'contextMiddleware'],
    list: (texts) => {
      const prompt = texts.map((text) => ({ role: 'user', content: [{ type: 'text', text }] }));
      return failing(async () => language(() => completion('Noted.')).doGenerate({ prompt } as never));
    },
  },
  'rows of a table': {
    names: [],
    most: 3,
    list: (texts) => inTables(texts.map((text) => ({ text }))),
  },
  'columns of a table': {
    names: [],
    block: 120, // 10,000 rows of 40 columns
    list: (texts) => inTables(texts.map((text, at) => ({ [`${at} ${text}`]: at }))),
  },
  'levels of a table': {
    names: [],
    list: (texts) => inTables(texts.slice(0, 2_000).reduce<object>((inner, text) => ({ text, inner }), {})),
  },
  'a compaction of the emulator': {
    names: ['createEmulator', 'addSampleConversation'],
    list: (texts) =>
      withEmulator(async (emulator) => {
        addSampleConversation(emulator);
        emulator.conversations.create({
          id: 'c',
          messages: lines(texts).map(({ id: _, ...message }) => message) as never,
        });
        await post(emulator, '/api/context/compact', { conversationId: 'c', level: 'deep' }, emulator.sessionToken);
      }),
  },
};

/** Functions that take nothing from outside but what another row has. */
export const EXEMPT: Readonly<Record<string, string>> = {
  observeCalls: 'takes events of a client: the rows of GatewayClient make them',
  observeTools: 'takes tools of a developer',
  tool: 'takes the definition of a developer; a conversation runs it',
  redisLimiter: 'takes numbers that its own scripts return',
  assumed: 'takes options of a developer',
  seedFrom: 'takes a file of a developer',
  manualClock: 'takes numbers',
  systemClock: 'takes nothing',
  emulatorStore: 'takes messages of a conversation: its rows have them',
};
