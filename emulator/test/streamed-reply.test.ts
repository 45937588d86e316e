import { describe, expect, test } from 'vitest';
import { replyText, streamedReply } from '../inspector/service/reply.js';

const raw = (event: string) => ({ text: `${event}\n\n` });
const chunk = (delta: unknown) => raw(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}`);
const call = (index: number, fields: object) => ({ tool_calls: [{ index, function: fields }] });

describe('the reply of a stream so far', () => {
  test.each([
    { because: 'nothing was sent', events: [], text: '' },
    { because: 'only the role came', events: [chunk({ role: 'assistant' })], text: '' },
    { because: 'text is joined', events: [chunk({ content: 'Half ' }), chunk({ content: 'word' })], text: 'Half word' },
    {
      because: 'comments, the end and damaged events have no text',
      events: [raw(': wait'), chunk({ content: 'Yes' }), raw('data: {"cho'), raw('data: [DONE]')],
      text: 'Yes',
    },
    {
      because: 'null is what some servers send for nothing',
      events: [chunk({ content: null, tool_calls: null }), chunk(null), raw('data: {"choices":null}')],
      text: '',
    },
    {
      because: 'calls come in pieces, and in any order',
      events: [
        chunk(call(1, { name: 'tide', arguments: '{}' })),
        chunk(call(0, { name: 'wind', arguments: '{"city":' })),
        chunk(call(0, { arguments: '"Oslo"}' })),
      ],
      text: 'wind({"city":"Oslo"})\ntide({})',
    },
    {
      because: 'the calls that have not begun yet are left out',
      events: [chunk(call(1, { name: 'tide', arguments: '{}' }))],
      text: 'tide({})',
    },
  ])('is $text: $because', ({ events, text }) => {
    expect(streamedReply(events)).toBe(text);
  });

  test('has the content before the calls, and arguments as JSON', () => {
    const calls = [{ function: { name: 'wind', arguments: { city: 'Oslo' } } }, {}];
    expect(replyText({ content: 'One moment.', tool_calls: calls })).toBe('One moment.\nwind({"city":"Oslo"})\n({})');
  });
});
