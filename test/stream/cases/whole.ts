import { expect } from 'vitest';
import { type Bench, check, expectNothingLeft, readAll, untilChunks } from '../bench.js';
import { chunk, DONE, END, event, finish, IDLE, type Script, type Step, send, stream, text } from '../script.js';

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const COUNTED = event(chunk([], { usage: USAGE }));
/** The longest wait, in milliseconds, for what may follow the last `finish_reason`. */
const LAST_WORDS = 2_000;

/** Of a call, in milliseconds: earlier than any other timer of a stream. */
const DEADLINE = 700;

/** The whole reply, in two chunks, and then one that ends it. */
const WHOLE = text('The ') + text('Rhine.') + finish();

/** The whole completion is read, and nothing is left. */
const completes = (usage?: object) => async (bench: Bench) => {
  const { stream, text, error } = await bench.read();

  expect([text, error]).toEqual(['The Rhine.', undefined]);
  const completion = await stream.finalCompletion();
  expect(completion.choices[0]).toMatchObject({ message: { content: 'The Rhine.' }, finish_reason: 'stop' });
  expect(completion.usage).toEqual(usage);
  expect(bench.time.pending).toBeLessThanOrEqual(1); // the only timer allowed is that of a rest still being read
};

const ends = (...steps: Step[]): Script => stream(...steps);
/** A piece with a `finish_reason`, which some services send with every one. */
const marked = (content: string) => event(chunk([{ index: 0, delta: { content }, finish_reason: 'stop' }]));
const FIN: Step = { end: 'fin' };
const RESET: Step = { end: 'reset' };

/** Reads until this many chunks have come, then lets `end` end the stream. */
const endedBy = (chunks: number, end: (bench: Bench, abort: AbortController) => unknown) => async (bench: Bench) => {
  const abort = new AbortController();
  const opened = await bench.open({ signal: abort.signal, deadline: DEADLINE });
  const reading = readAll(opened);
  await untilChunks(opened, chunks);

  await end(bench, abort);

  const { text, error } = await reading;
  expect([text, error]).toEqual(['The Rhine.', undefined]);
  expect((await opened.finalCompletion()).choices[0]?.message.content).toBe('The Rhine.');
  await expectNothingLeft(bench);
};

/** Cases about how a stream may end whose choices all have their `finish_reason`. */
export const wholeCases = [
  ...Object.entries({
    'whose connection is closed within the chunked body': ends(send(WHOLE), FIN),
    'whose connection is reset': ends(send(WHOLE), { wait: true }, RESET),
    'that is cut within an event': ends(send(`${WHOLE}data: {"id":"c1","cho`), FIN),
    'that is cut within [DONE]': ends(send(`${WHOLE}data: [DO`), FIN),
    'of a compressed body without its end': { compress: 'gzip', steps: [send(WHOLE), { end: 'short' }] } as Script,
  }).map(([title, script]) =>
    check(`completes a stream ${title}`, { answers: script, notIn: 'browsers' }, async (bench) => {
      const done = completes()(bench);
      await bench.go().catch(() => {});
      await done;
    }),
  ),
  check('keeps usage that came before a reset', ends(send(WHOLE, COUNTED), FIN), completes(USAGE)),
  check(
    'completes a stream that goes on with what is no chunk',
    ends(send(WHOLE, 'data: nothing\n\n', DONE)),
    completes(),
  ),
  check(
    'completes a silent stream two seconds after it is whole',
    {
      answers: ends(send(WHOLE)),
      options: { streamIdleTimeout: 100 * IDLE },
    },
    endedBy(3, (bench) => bench.timerFires(LAST_WORDS)),
  ),
  check(
    'completes a stream that only beats',
    {
      answers: ends(send(WHOLE, ': ping\n\n'.repeat(3))),
      options: { streamIdleTimeout: 100 * IDLE },
    },
    endedBy(3, (bench) => bench.timerFires(LAST_WORDS)),
  ),
  check(
    'completes a whole stream that is aborted',
    ends(send(WHOLE)),
    endedBy(3, (_, abort) => abort.abort()),
  ),
  check(
    'completes a whole stream whose client is closed',
    ends(send(WHOLE)),
    endedBy(3, (bench) => bench.client.close()),
  ),
  check(
    'completes a whole stream at its deadline',
    ends(send(WHOLE)),
    endedBy(3, (bench) => bench.timerFires(DEADLINE)),
  ),
  check('completes a whole stream that is closed, or whose loop is left', ends(send(WHOLE)), async (bench) => {
    const opened = await bench.open();
    for await (const { choices } of opened) if (choices[0]?.finish_reason === 'stop') break;
    expect((await opened.finalCompletion()).choices[0]?.message.content).toBe('The Rhine.');
    await expectNothingLeft(bench);
  }),
  check(
    'waits the whole idle timeout for a choice that is not finished',
    {
      answers: ends(send(text('The '), text('Une ', 1), finish())),
      options: { streamIdleTimeout: 100 * IDLE },
    },
    async (bench) => {
      const opened = await bench.open();
      const reading = readAll(opened);
      await untilChunks(opened, 3);

      expect(bench.time.delays).not.toContain(LAST_WORDS);
      await bench.timerFires(100 * IDLE);
      expect((await reading).error).toMatchObject({ kind: 'idle' });
    },
  ),
  ...Object.entries({
    'on every chunk': marked('The '),
    'on the first text': event(chunk([{ index: 0, delta: { role: 'assistant' } }])) + marked('The '),
  }).map(([place, begin]) =>
    check(
      `does not take a mark ${place} of a slow stream for its end`,
      {
        answers: ends(send(begin), { wait: true }, send(marked('Rhine.'), DONE)),
        options: { streamIdleTimeout: 100 * IDLE },
      },
      async (bench) => {
        const opened = await bench.open();
        const reading = readAll(opened);
        await untilChunks(opened, begin.split('data:').length - 1);
        await bench.time.advance(LAST_WORDS);
        await bench.go();

        expect((await reading).text).toBe('The Rhine.');
      },
    ),
  ),
  check('leaves a stream that is cut before its end what it is', ends(send(text('The ')), FIN), async (bench) => {
    const { text: said, error } = await bench.read();

    expect(said).toBe('The ');
    expect(error).toMatchObject({ partial: { choices: [{ message: { content: 'The ' } }] } });
  }),
  check(
    'asked for two choices, waits for the second after the end of the first',
    {
      answers: ends(send(WHOLE), { wait: true }, send(text('Une.', 1), finish('stop', 1), DONE)),
      options: { streamIdleTimeout: 100 * IDLE },
    },
    async (bench) => {
      const opened = await bench.client.chat.completions.create({
        model: 'm',
        messages: [{ role: 'user', content: 'Hi' }],
        n: 2,
        stream: true,
      });
      const reading = readAll(opened);
      await untilChunks(opened, 3);
      await bench.time.advance(LAST_WORDS);
      await bench.go();
      await reading;

      expect((await opened.finalCompletion()).choices.map(({ message }) => message.content)).toEqual([
        'The Rhine.',
        'Une.',
      ]);
    },
  ),
  ...[
    {
      title: 'a reset is an error of a stream whose service marks every chunk',
      sent: marked('The ') + marked('Rhine'),
    },
    {
      title: 'a reset is an error of a stream that goes on after a mark',
      sent: text('The ') + finish() + text('Rhine'),
    },
    { title: 'a reset is an error of a stream without a choice that was asked for', sent: WHOLE, n: 2 },
    { title: 'the end of the body is an error without a choice that was asked for', sent: WHOLE, n: 2, end: END },
  ].map(({ title, sent, n = 1, end = FIN }) =>
    check(title, { answers: ends(send(sent), end), notIn: 'browsers' }, async (bench) => {
      const asked = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], n, stream: true } as const;
      const { error } = await readAll(await bench.client.chat.completions.create(asked));

      expect(error).toMatchObject({ name: expect.stringMatching(/Error$/), partial: { choices: [{ index: 0 }] } });
    }),
  ),
];
