import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RequestValidationError } from '../../src/errors/validation.js';
import { encodePath, prepare } from '../../src/request/request.js';
import { addHeaders } from '../../src/validation/headers.js';
import { atLength } from '../helpers/endurance.js';
import { anyString, unicodeString } from '../helpers/strings.js';

const base = { origin: 'https://service.test', prefix: '/proxy' };
const pathFor = (id: string) => prepare({ method: 'GET', path: '/v1/things/{id}/run', ids: { id } }, base, {}).target;

const anyText = fc.oneof(anyString(), fc.stringMatching(/^[./\\%?#@:;&2eE5fFcC \t\r\n-]{0,12}$/));

test('any id is rejected, or becomes exactly one path segment that decodes to it, on the same origin', () => {
  fc.assert(
    fc.property(anyText, (id) => {
      let path: string;
      try {
        path = pathFor(id);
      } catch (error) {
        expect(error).toBeInstanceOf(RequestValidationError);
        expect((error as RequestValidationError).issues[0]?.path).toEqual(['id']);
        return;
      }
      const url = new URL(base.origin + path);
      expect(url.origin).toBe(base.origin);
      expect(url.pathname).toBe(path);
      expect(path.split('/').map(decodeURIComponent)).toEqual(['', 'proxy', 'v1', 'things', id, 'run']);
    }),
    { numRuns: atLength(500, 10_000) },
  );
});

test('an id of up to 1,024 word characters and hyphens is always accepted', () => {
  expect(pathFor('Any-id_5')).toBe('/proxy/v1/things/Any-id_5/run');
  expect(encodePath('/{id}', { id: 'x'.repeat(1_024) })).toHaveLength(1_025);
});

test('a query of any strings, numbers and booleans decodes to the same values', () => {
  const value = fc.oneof(unicodeString(), fc.integer(), fc.boolean());
  fc.assert(
    fc.property(fc.dictionary(unicodeString(8), value), (query) => {
      const { target } = prepare({ method: 'GET', path: '/v1/x', query }, base, {});
      const sent = new URL(base.origin + target);
      expect([...sent.searchParams]).toEqual(Object.entries(query).map(([key, value]) => [key, String(value)]));
      expect(sent.hash).toBe('');
    }),
  );
});

describe('addHeaders', () => {
  test('rejects any name and value that cannot be set unchanged on real Headers', () => {
    const text = fc.oneof(anyString(20), fc.stringMatching(/^[\w\r\n:\t -]{0,12}$/));
    fc.assert(
      fc.property(text, text, (name, value) => {
        const merged: Record<string, string> = {};
        try {
          addHeaders(merged, { [name]: value }, 'authorization');
        } catch (error) {
          expect(error).toBeInstanceOf(RequestValidationError);
          return;
        }
        for (const [key, sent] of Object.entries(merged)) {
          expect(new Headers([[key, sent]]).get(key)).toBe(sent.replace(/^[\t ]+|[\t ]+$/g, ''));
        }
      }),
      { numRuns: atLength(500, 2_000) },
    );
  });
});
