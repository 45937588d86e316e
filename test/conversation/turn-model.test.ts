import { expect, test } from 'vitest';
import { atLength } from '../helpers/endurance.js';
import { seededRandom } from '../helpers/manual-runtime.js';
import { TurnModel } from './turn-model.js';

/** As property tests: the same cases each time, unless `npm run chaos -- --explore` sets another seed. */
const FIRST_SEED = Number(process.env.PROPERTY_SEED ?? 1);
/** Long conversations take more time for each step, and meet little else. */
const STEPS = atLength(20, 100);
const CONVERSATIONS = atLength(24, 200);
/** Which calls end in time depends on the machine: so many are played until all of `HAPPENED` was seen. */
const MOST = 200;

/** What must have happened, so that the rules are known to be tried. */
const HAPPENED = [
  'send',
  'read',
  'leave',
  'stop',
  'again',
  'regenerate',
  'edit',
  'prepare',
  'fork',
  'results',
  'add',
  'steps',
  'waiting',
  'twice, asked once',
  'given again behind results',
];
const ERRORS = ['ConversationConflictError', 'ConversationStoreError', 'AbortError', 'InternalServerError'];

test.each([{ returnsParts: false }, { returnsParts: true }])(
  'whatever pages do at once, each message is stored once and in its place (parts: $returnsParts)',
  async ({ returnsParts }) => {
    const seen = new Set<string>();
    const failed = (error: string): boolean => [...seen].some((outcome) => outcome.endsWith(`: ${error}`));
    const missing = (): string[] => [
      ...HAPPENED.filter((outcome) => !seen.has(outcome)),
      ...ERRORS.filter((error) => !failed(error)),
    ];
    for (let played = 0; played < CONVERSATIONS || (played < MOST && missing().length > 0); played += 1) {
      const seed = FIRST_SEED + played;
      const model = new TurnModel(seededRandom(seed), returnsParts);

      for (let step = 0; step < STEPS && model.wrong.length === 0; step += 1) await model.step();

      expect(model.wrong, `with seed ${seed}`).toEqual([]);
      for (const outcome of model.seen.keys()) seen.add(outcome);
      await model.close();
    }
    expect(missing()).toEqual([]);
  },
  3_600_000, // at length, on a machine that has more to do
);
