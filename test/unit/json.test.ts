import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RequestValidationError } from '../../src/errors/validation.js';
import { encodeJson } from '../../src/validation/json.js';
import { atLength } from '../helpers/endurance.js';
import { anyString } from '../helpers/strings.js';

const issueOf = (value: unknown) => {
  try {
    encodeJson(value);
  } catch (error) {
    expect(error).toBeInstanceOf(RequestValidationError);
    return (error as RequestValidationError).issues[0];
  }
  throw new Error('it was encoded');
};

test('every JSON value survives encoding', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(encodeJson(value)).toBe(JSON.stringify(value));
    }),
  );
});

test('any value is encoded as JSON.stringify does, or rejected', () => {
  const all = { withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true };
  fc.assert(
    fc.property(fc.anything(all), (value) => {
      let json: string;
      try {
        json = encodeJson(value);
      } catch (error) {
        expect(error).toBeInstanceOf(RequestValidationError);
        return;
      }
      expect(json).toBe(JSON.stringify(value));
      expect(json).not.toBeUndefined();
    }),
    { numRuns: atLength(500, 2_000) },
  );
});

test('any string is encoded unchanged, or rejected for a lone surrogate', () => {
  fc.assert(
    fc.property(anyString(), (text) => {
      if (text.isWellFormed()) expect(JSON.parse(encodeJson({ text }))).toEqual({ text });
      else expect(issueOf({ text })?.path).toEqual(['text']);
    }),
    { numRuns: atLength(300, 1_000) },
  );
});

const loop: Record<string, unknown> = {};
loop.list = [loop];

test.each<[value: unknown, path: (string | number)[], message: string]>([
  [{ a: [{ b: 1n }] }, ['a', 0, 'b'], 'bigint cannot be sent as JSON'],
  [{ a: Symbol('s') }, ['a'], 'symbol cannot be sent as JSON'],
  [undefined, [], 'undefined cannot be sent as JSON'],
  [{ list: [undefined] }, ['list', 0], 'undefined cannot be sent as JSON'],
  [{ a: { toJSON: () => undefined } }, ['a'], 'undefined cannot be sent as JSON'],
  [[Number.NaN], [0], 'must be a finite number'],
  [[new Date(Number.NaN)], [0], 'must be a valid Date'],
  [{ loop }, ['loop', 'list', 0], 'must not contain itself'],
  ...[new Map(), new WeakMap(), new Uint8Array(2), Promise.resolve(1), new String('a'), new Blob(['a'])].map(
    (value): [unknown, string[], string] => [{ a: value }, ['a'], `${value.constructor.name} cannot be sent as JSON`],
  ),
])('%#: the issue of %o has its path', (value, path, message) => {
  expect(issueOf(value)).toEqual({ path, message });
});

test('a value may appear twice, but not inside itself, and a field may be undefined', () => {
  const shared = { a: 1, gone: undefined };

  expect(encodeJson({ first: shared, second: [shared, new Date(0)] })).toBe(
    '{"first":{"a":1},"second":[{"a":1},"1970-01-01T00:00:00.000Z"]}',
  );
});

class Getters {
  get role(): string {
    return 'user';
  }
}

test('an object that JSON would turn into {} is rejected, as all its fields are inherited or getters of its class', () => {
  const message = 'has no fields of its own; pass a plain object';

  expect(issueOf([new Getters()])).toEqual({ path: [0], message });
  expect(issueOf({ a: Object.create({ role: 'user' }) })).toEqual({ path: ['a'], message });
});

test('empty plain objects of every realm are encoded, and instances with fields', () => {
  const withField = Object.assign(new Getters(), { a: 1 });

  expect(encodeJson([{}, Object.create(null), runInNewContext('({})'), withField])).toBe('[{},{},{},{"a":1}]');
});

test('toJSON gets the name of its field, and may return its own object', () => {
  class Self {
    a = 1;
    toJSON(): this {
      return this;
    }
  }
  const named = { toJSON: (name: string) => name.toUpperCase() };
  const value = { self: new Self(), named, list: [named] };

  expect(encodeJson(value)).toBe(JSON.stringify(value));
  expect(encodeJson(named)).toBe('""');
});

test('500 levels are encoded, 501 are rejected, and the path of the issue stays short', () => {
  const nested = (levels: number) => {
    let value: unknown = [];
    for (let n = 1; n < levels; n += 1) value = [value];
    return value;
  };

  expect(encodeJson(nested(500))).toHaveLength(1_000);
  expect(issueOf(nested(501))).toEqual({
    path: [0, 0, 0, 0, 0],
    message: 'must not be nested deeper than 500 levels',
  });
});

test('each field is read once, so what is checked is what is sent', () => {
  let reads = 0;
  const value = {
    get temperature() {
      reads += 1;
      return reads === 1 ? 1 : Number.NaN;
    },
  };

  expect(encodeJson(value)).toBe('{"temperature":1}');
});
