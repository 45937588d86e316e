import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RequestValidationError } from '../../src/errors/validation.js';
import { encodeJson } from '../../src/validation/json.js';
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

/** JSON has no -0, so -0 becomes 0. */
const sameButForZero = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test('every JSON value survives encoding', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      expect(JSON.parse(encodeJson(value))).toEqual(sameButForZero(value));
    }),
  );
});

test('any value is encoded as JSON.stringify does, or rejected', () => {
  fc.assert(
    fc.property(
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true }),
      (value) => {
        let json: string;
        try {
          json = encodeJson(value);
        } catch (error) {
          expect(error).toBeInstanceOf(RequestValidationError);
          return;
        }
        expect(json).toBe(JSON.stringify(value));
        expect(json).not.toBeUndefined();
      },
    ),
    { numRuns: 2_000 },
  );
});

test('any number is encoded exactly, or rejected if it is not finite', () => {
  fc.assert(
    fc.property(fc.double(), (number) => {
      if (Number.isFinite(number)) expect(JSON.parse(encodeJson([number]))[0]).toBe(number + 0);
      else expect(issueOf([number])).toEqual({ path: [0], message: 'must be a finite number' });
    }),
    { numRuns: 1_000 },
  );
});

test('any string is encoded unchanged, or rejected for a lone surrogate', () => {
  fc.assert(
    fc.property(anyString(), (text) => {
      if (text.isWellFormed()) expect(JSON.parse(encodeJson({ text }))).toEqual({ text });
      else expect(issueOf({ text })?.path).toEqual(['text']);
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  { value: { a: [{ b: 1n }] }, path: ['a', 0, 'b'], message: 'bigint cannot be sent as JSON' },
  { value: { a: () => 1 }, path: ['a'], message: 'function cannot be sent as JSON' },
  { value: undefined, path: [], message: 'undefined cannot be sent as JSON' },
  { value: [new Map()], path: [0], message: 'Map cannot be sent as JSON' },
  { value: { a: new WeakMap() }, path: ['a'], message: 'WeakMap cannot be sent as JSON' },
])('the issue of $value has its path', ({ value, path, message }) => {
  expect(issueOf(value)).toEqual({ path, message });
});

class Getters {
  readonly #content = 'hello';
  get role(): string {
    return 'user';
  }
  get content(): string {
    return this.#content;
  }
}

test.each([
  { value: [new Getters()], path: [0], because: 'its class has only getters' },
  { value: { a: Object.create({ role: 'user' }) }, path: ['a'], because: 'it inherits all its fields' },
])('an object that JSON would turn into {} is rejected: $because', ({ value, path }) => {
  expect(issueOf(value)).toEqual({ path, message: 'has no fields of its own; pass a plain object' });
});

test('empty plain objects of every realm are encoded, and instances with fields', () => {
  class Fields {
    a = 1;
    get b(): number {
      return 2;
    }
  }
  expect(encodeJson([{}, Object.create(null), runInNewContext('({})'), new Fields()])).toBe('[{},{},{},{"a":1}]');
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
