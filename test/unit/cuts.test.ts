import { memoryStore } from 'context-gateway/conversation';
import { expect, test } from 'vitest';
import { speakerOf } from '../../src/base/speaker.js';
import { startOf } from '../../src/base/unicode.js';
import { passagesOf } from '../../src/conversation/search/passages.js';
import { Redactor } from '../../src/errors/redactor.js';
import { chatWorld } from '../conversation/world.js';

/** Of two halves each, behind a letter, so that every even place is within one. */
const FACES = `x${'😀'.repeat(5000)}`;

test.each<[string, (text: string) => string | undefined]>([
  ['the beginning of a text', (text) => startOf(text, 100)],
  ['a text of the service in a message', (text) => new Redactor().quote(text)],
  ['the name of a speaker', (name) => speakerOf({ name })],
  ['a passage of a long message', (text) => passagesOf(text, 1000)[0]],
])('%s ends with a whole character', (_, cut) => {
  expect(cut(FACES)?.isWellFormed()).toBe(true);
  expect(cut(FACES)?.length).toBeLessThan(5000);
  expect(cut(`xx${FACES}`)).not.toContain('\ufffd');
});

test('the text of a search result ends with a whole character', async () => {
  const talk = chatWorld().open({ store: memoryStore({ talk: [{ role: 'user', content: `harbour ${FACES}` }] }) });

  const [hit] = await talk.search('harbour');

  expect(hit?.text.isWellFormed()).toBe(true);
});
