import { expect, test } from 'vitest';
import { atLength } from '../helpers/endurance.js';
import { seededRandom } from '../helpers/manual-runtime.js';
import { TurnModel } from './turn-model.js';

/** As property tests: the same cases each time, unless `npm run chaos -- --explore` sets another seed. */
const FIRST_SEED = Number(process.env.PROPERTY_SEED ?? 1);

/** What must have happened, so that the rules are known to be tried. */
const CALLS = [
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
];
const ERRORS = ['ConversationConflictError', 'ConversationStoreError', 'AbortError', 'InternalServerError'];

test.each([{ returnsParts: false }, { returnsParts: true }])(
  'whatever pages do at once, each message is stored once and in its place (parts: $returnsParts)',
  async ({ returnsParts }) => {
    const seen = new Set<string>();
    for (let seed = FIRST_SEED; seed < FIRST_SEED + atLength(8, 200); seed += 1) {
      const model = new TurnModel(seededRandom(seed), returnsParts);

      for (let step = 0; step < 100 && model.wrong.length === 0; step += 1) await model.step();

      expect(model.wrong, `with seed ${seed}`).toEqual([]);
      for (const outcome of model.seen.keys()) seen.add(outcome);
      await model.close();
    }
    const failed = (error: string): boolean => [...seen].some((outcome) => outcome.endsWith(`: ${error}`));
    expect(CALLS.filter((how) => !seen.has(how))).toEqual([]);
    expect(ERRORS.filter((error) => !failed(error))).toEqual([]);
    expect(seen).toContain('twice, asked once');
    expect(seen).toContain('given again behind results');
  },
  3_600_000, // at length, on a machine that has more to do
);
