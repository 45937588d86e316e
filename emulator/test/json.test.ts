import { expect, test } from 'vitest';
import { parseJsonText } from '../src/base/json.js';

test.each([
  { text: '', at: 'line 1, column 1' },
  { text: '{"a":1,}', at: 'line 1, column 8' },
  { text: '{\n  "a": [1, 2\n  "b": 3\n}', at: 'line 3, column 3' },
  { text: '{"a": tru}', at: 'line 1, column 7' },
  { text: '[1, 2]]', at: 'line 1, column 7' },
  { text: '{"a": "open\n"}', at: 'line 1, column 7' },
  { text: '[1,\n\n  01]', at: 'line 3, column 4' },
  { text: `${' '.repeat(25_000)}x`, at: 'line 1, column 25001' },
])('says that $text is not valid at $at', ({ text, at }) => {
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
  expect(() => parseJsonText(text)).toThrow(`not valid JSON: ${at}`);
});
