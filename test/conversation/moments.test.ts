import { tool } from 'context-gateway';
import {
  type Conversation,
  type ConversationMessage,
  memoryStore,
  type ReplyStream,
  textOf,
} from 'context-gateway/conversation';
import { expect, test } from 'vitest';
import { called, scripted } from './scripted.js';
import { assistant, elsewhere, user } from './world.js';

type Ask = (talk: Conversation, signal: AbortSignal) => ReplyStream;

/** What a page asks, and what is stored before. */
const ASKS: Record<string, { history?: ConversationMessage[]; ask: Ask }> = {
  'a question': { ask: (talk, signal) => talk.stream('When?', { signal }) },
  'the question again': {
    history: [user('When?', 'q'), { ...assistant('So', 'a'), replyTo: 'q', stopped: true }],
    ask: (talk, signal) => talk.regenerate({ signal }),
  },
  'the question of a whole reply': {
    history: [user('When?', 'q'), { ...assistant('Soon.', 'a'), replyTo: 'q' }],
    ask: (talk, signal) => talk.regenerate({ signal }),
  },
  'an edit': {
    history: [user('Now?', 'q'), { ...assistant('Soon.', 'a'), replyTo: 'q' }],
    ask: (talk, signal) => talk.edit('q', 'When?', { signal }),
  },
  'the result of a call that waits': {
    history: [
      user('When?', 'q'),
      { ...assistant('May I?', 'a'), replyTo: 'q', reply: 'r', tool_calls: [called('w', {}, 'ask') as never] },
    ],
    ask: (talk, signal) => talk.stream([{ role: 'tool', tool_call_id: 'w', content: 'Yes.' }], { signal }),
  },
};

/** Plays a loop of two steps, and stops it at one of its moments. Returns how many it had, and what is stored. */
async function play({ history = [], ask }: (typeof ASKS)[string], stopAt: number) {
  const stop = new AbortController();
  let moments = 0;
  const moment = (): void => {
    if (moments === stopAt) stop.abort();
    moments += 1;
  };
  /** A moment before some work, and one after it. */
  const beside = async <T>(work: () => T | Promise<T>): Promise<T> => {
    moment();
    const result = await work();
    moment();
    return result;
  };
  const store = memoryStore({ talk: history });
  const slow: typeof store = {
    ...store,
    load: (...given) => beside(() => store.load(...given)),
    append: (...given) => beside(() => store.append(...given)),
  };
  const work = tool({ name: 'work', execute: () => beside(() => Promise.resolve('Noon.')) });
  const steps = ['a', 'b'].map((id) => ({
    ...{ content: 'I look.', tool_calls: [called(id, {}, 'work'), called(`${id}2`, {}, 'work')], before: moment },
  }));
  const { talk, open, bodies, rows } = scripted(
    [...steps, { content: 'At noon.', before: moment }, { content: 'Fine.' }],
    {
      store: slow,
      tools: [work, tool({ name: 'ask' })],
    },
  );
  try {
    for await (const _ of ask(talk, stop.signal).parts()) moment();
  } catch (error) {
    expect(error).toMatchObject({ name: 'AbortError' });
  }
  await talk.idle();
  const stored = (await rows()) as ConversationMessage[];
  const { text } = await open(elsewhere(store)).send('And now?');
  return { moments, stored, text, sent: bodies.at(-1)?.messages as unknown as ConversationMessage[] };
}

test.each(Object.entries(ASKS))(
  'a loop for %s can be stopped at any moment, and the conversation goes on',
  async (_, ask) => {
    const { moments } = await play(ask, Number.POSITIVE_INFINITY);
    expect(moments).toBeGreaterThan(25);
    for (let at = 0; at < moments; at += 1) {
      const { stored, text, sent } = await play(ask, at);

      expect(text, `stopped at ${at}`).toMatch(/./);
      // Each call has one result, where it is stored and where it is sent.
      for (const messages of [stored, sent]) {
        const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
        const results = messages.flatMap(({ tool_call_id }) => tool_call_id ?? []);
        const waits = calls.includes('w') && !results.includes('w') ? ['w'] : [];
        expect([...results, ...waits].sort(), `stopped at ${at}`).toEqual(calls.sort());
      }
      // A whole reply is there, old or new, or what was there of it: nothing twice.
      const texts = stored.filter(({ role }) => role === 'assistant').map(textOf);
      expect(texts.filter((one) => /noon|Soon|So$/.test(one)).length, `stopped at ${at}`).toBeLessThanOrEqual(1);
      expect(new Set(stored.map(({ id }) => id)).size).toBe(stored.length);
    }
  },
);
