import { parentPort, workerData } from 'node:worker_threads';
import { ContextGatewayError } from 'context-gateway';
import { type ConversationMessage, createConversation, memoryStore, wordsOf } from 'context-gateway/conversation';
import { createEmulator } from 'context-gateway-emulator';
import fc from 'fast-check';
import { normalise } from '../../src/conversation/search/words.js';
import { pin } from '../conversation/samples.js';
import { TEXTS } from './hostile.js';
import { everyCharacter, hostileText, hostileTexts } from './hostile-texts.js';
import { completion, contextWith, gatewayWith, TEXT_ROWS } from './table.js';

/**
 * Does what hostile.test.ts asks for, and tells it what it does, so that the test knows which call never ends. A call that takes
 * out of proportion is tried again, and reported if it always does: other processes only make all of them slow.
 */
interface Asked {
  seed: number;
  runs: number;
  /** Of how many characters one is taken alone. */
  step: number;
}

/** Milliseconds of CPU time of this process, whose other threads wait: another process that is busy adds none. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Milliseconds that are not looked at. */
const QUICK = 500;
/**
 * How many times as long as reading a text of 100,000 characters a call may take that reads several, several times. A compaction of 17,000
 * statements takes 190; what takes quadratic time takes 600 and more.
 */
const MOST = 300;
const ORDINARY = 'The lamp at the pier is réd, and 灯台 is not. '.repeat(2_300);

/** Milliseconds that it takes to read an ordinary text. */
function unit(): number {
  const startedAt = cpuTime();
  normalise(ORDINARY);
  return cpuTime() - startedAt;
}

async function inProportion(name: string, work: () => unknown): Promise<void> {
  let took = '';
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const startedAt = cpuTime();
    await work();
    const time = cpuTime() - startedAt;
    if (time < QUICK) return;
    const units = time / Math.min(unit(), unit(), unit());
    if (units < MOST) return;
    took = `${Math.round(time)} ms, ${Math.round(units)} times as long as reading a text`;
  }
  throw new Error(`${name} takes out of proportion: ${took}`);
}

/** Errors of ours say what is wrong with a text. Any other error is a fault. */
async function ours(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!ContextGatewayError.is(error)) throw error;
  }
}

/** Texts as the messages of a conversation, beside ordinary ones. */
function history(texts: readonly string[]): ConversationMessage[] {
  const ordinary = Array.from({ length: 12 }, (_, at) => `Remark ${at} is about the weather at the pier.`);
  return [...ordinary.slice(6), ...texts, ...ordinary.slice(0, 6)].map((content, at) => ({
    ...{ id: `m${at}`, role: at % 2 ? 'assistant' : 'user', content: content || 'x' },
    ...(at % 5 === 0 && { name: texts[at % texts.length] }),
    createdAt: new Date(1.7e12 + at * 6e6).toISOString(),
  }));
}

/** A conversation in which the texts are questions, messages, names, statements, pins, and statements that were lost. */
async function meeting(texts: readonly string[]): Promise<void> {
  const [question = '', other = ''] = texts;
  let version = 0;
  const store = memoryStore({ talk: history(texts) });
  const talk = createConversation({
    ...{ gateway: gatewayWith(() => completion(other)), model: 'm', conversationId: 'talk', store, budget: 700 },
    context: contextWith(() => (version++ ? [other] : [...texts]), [pin(question, 'm1'), pin(other, 'none')]),
    onError: () => {},
  });
  await ours(() => talk.search(question));
  await ours(() => talk.send(question));
  await ours(() => talk.compact());
  await ours(() => talk.send([{ role: 'user', content: other, name: question }]));
  await ours(() => talk.exclude('m0'));
  await talk.idle();
}

/** An emulator that is sent the texts, and then asked for what it has recorded. */
async function recorded(texts: readonly string[]): Promise<void> {
  const emulator = createEmulator({ seed: 'hostile' });
  const call = async (path: string, init?: RequestInit): Promise<void> => {
    await (await emulator.fetch(new Request(`http://emulator.test${path}`, init))).text();
  };
  const { secret } = emulator.apiKeys;
  for (const [at, content] of texts.entries()) {
    const body = JSON.stringify({
      ...{ model: 'atlas-small', messages: [{ role: 'user', content }], stream: at % 2 === 1 },
      ...{ [content.slice(0, 500)]: 1, [`${content.slice(0, 500)}'`]: 2 },
    });
    const credential = content.replace(/[^!-~]/g, '').slice(0, 8_000);
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'x-api-key': credential };
    await call('/v1/chat/completions', { method: 'POST', headers, body });
  }
  for (const path of ['requests', 'case?mask=keys,prompts', 'har?mask=keys', 'requests?q=lamp'])
    await call(`/_emulator/${path}`);
  await emulator.close();
}

/** Each character alone: as a question, as a message, and as a word of an index. */
async function eachCharacter(characters: readonly string[]): Promise<void> {
  for (const character of characters)
    for (const word of wordsOf({ content: `a ${character} pier${character}`, name: character }))
      if (!/^[\p{L}\p{M}\p{N}]+$/u.test(word)) throw new Error(`${JSON.stringify(word)} is no word`);
  const store = memoryStore({ talk: history(characters) });
  const talk = createConversation({
    gateway: gatewayWith(() => completion('ok')),
    model: 'm',
    conversationId: 'talk',
    store,
  });
  await ours(() => talk.search(characters.join(' ')));
}

const { seed, runs, step } = workerData as Asked;

/** Tells what is done next. */
function next(name: string, texts: readonly string[]): void {
  parentPort?.postMessage({ name, texts: texts.map((text) => text.slice(0, 200)) });
}

async function check(
  name: string,
  texts: fc.Arbitrary<string[]>,
  work: (texts: string[]) => unknown,
  times: number,
  examples: [string[]][] = [],
) {
  const property = fc.asyncProperty(texts, async (some) => {
    next(name, some);
    await inProportion(name, () => work(some));
  });
  const { failed, errorInstance, counterexamplePath } = await fc.check(property, {
    seed,
    numRuns: times,
    examples,
    endOnFailure: true,
  });
  if (failed) throw new Error(`with seed ${seed} and path ${counterexamplePath}`, { cause: errorInstance });
}

for (const characters of everyCharacter(step)) {
  next('each character alone', characters);
  await eachCharacter(characters);
}
// Runs of marks, which Unicode sorts in quadratic time.
const ofMarks = ['marks in falling order', 'marks that are no accents'].map((name) => TEXTS[name]?.(60_000) ?? '');
await check('a conversation of hostile texts', hostileTexts, meeting, 4 * runs, [[ofMarks]]);
// A credential of one sign, and texts that are full of its beginning; lines and words without letters: chance seldom brings these together.
const oneSign = 'x'.repeat(100_000);
const examples: [string[]][] = [[[oneSign, `${oneSign}y`]], [['\n, \u0e31'.repeat(25_000), '⣼\u20e4'.repeat(50_000)]]];
await check('an emulator that is sent hostile texts', hostileTexts, recorded, 2 * runs, examples);
for (const [name, { text }] of Object.entries(TEXT_ROWS))
  await check(
    name,
    hostileText.map((one) => [one]),
    ([one = '']) => ours(() => text(one)),
    runs,
  );
parentPort?.postMessage({ isDone: true });
