import { RequestValidationError } from 'context-gateway';
import { afterEach, expect, test } from 'vitest';
import { isWellFormed, toWellFormed } from '../../src/base/unicode.js';
import { completion } from '../helpers/samples.js';
import { gatewayAt } from '../helpers/service.js';

const TEXTS = ['', 'plain', '😀', 'a😀b', '\uD83D', 'a\uD83D', '\uDE00b', '\uDE00\uD83D', '\uD83D\uD83D\uDE00'];
const native = TEXTS.map((text) => [text.isWellFormed(), text.toWellFormed()]);

const { canParse } = URL;

afterEach(() => {
  URL.canParse = canParse;
  Object.assign(String.prototype, { isWellFormed: IS, toWellFormed: TO });
});
const { isWellFormed: IS, toWellFormed: TO } = String.prototype;

/** As on Hermes. */
function removeNative(): void {
  for (const name of ['isWellFormed', 'toWellFormed'])
    Object.defineProperty(String.prototype, name, { value: undefined, configurable: true, writable: true });
}

test('texts are judged and repaired alike with and without the native methods', () => {
  removeNative();

  expect(TEXTS.map((text) => [isWellFormed(text), toWellFormed(text)])).toEqual(native);
});

test('a POST is sent, and half a character is rejected, where strings have no isWellFormed and URL no canParse', async () => {
  removeNative();
  URL.canParse = undefined as never; // as in React Native and browsers of 2022
  const gateway = gatewayAt({ fetch: async () => Response.json(completion()) });
  const ask = (content: string) =>
    gateway.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] });

  expect(await ask('Hello')).toEqual(completion());
  await expect(ask('\uD83D')).rejects.toThrow(RequestValidationError);
});
