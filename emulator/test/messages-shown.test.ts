import { describe, expect, test } from 'vitest';
import { messagesOf } from '../inspector/requests/messages.js';

const call = (id: string, name: string, args: unknown) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const shown = (body: unknown, reply?: unknown, events: string[] = [], outcome = 'complete') => {
  const response = {
    headers: {},
    body: reply === undefined ? '' : JSON.stringify(reply),
    isBodyCut: false,
    events: undefined,
  };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return messagesOf(
    { body: text, response, outcome: outcome as never },
    events.map((data) => ({ at: 0, text: `data: ${data}\n\n` })),
  );
};
const said = (content: unknown) => ({ messages: [{ role: 'user', content }] });

describe('the messages of a request', () => {
  test('have texts, calls and the tools whose results they are, and then the reply', () => {
    const messages = [
      { role: 'user', content: 'When is high tide?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [call('a', 'tide', '{"harbour":"Bergen"}'), call('b', 'clock', '')],
      },
      { role: 'tool', tool_call_id: 'b', content: 'Ten.' },
      { role: 'tool', tool_call_id: 'a', content: `{"high":"12:00","of":"${'x'.repeat(60)}"}` },
    ];

    expect(shown({ messages }, { choices: [{ message: { role: 'assistant', content: 'At noon.' } }] })).toEqual([
      { role: 'user', text: 'When is high tide?', calls: [] },
      {
        ...{ role: 'assistant', text: '' },
        calls: [
          { name: 'tide', args: '{"harbour":"Bergen"}' },
          { name: 'clock', args: '' },
        ],
      },
      { role: 'tool', text: 'Ten.', calls: [], resultOf: 'clock' },
      { role: 'tool', text: expect.stringMatching(/^\{\n {2}"high": "12:00",\n/), calls: [], resultOf: 'tide' },
      { role: 'assistant', text: 'At noon.', calls: [] },
    ]);
  });

  test('end with the reply of a stream, once it has ended', () => {
    const delta = { tool_calls: [{ index: 0, id: 'a', function: { name: 'tide', arguments: '{}' } }] };
    const events = [JSON.stringify({ choices: [{ delta }] }), '[DONE]'];

    expect(shown(said('When?'), undefined, events).at(-1)).toEqual({
      ...{ role: 'assistant', text: '', calls: [{ name: 'tide', args: '{}' }] },
    });
    expect(shown(said('When?'), undefined, events, 'pending')).toHaveLength(1);
  });

  test.each([
    {
      content: [{ type: 'text', text: 'This?' }, { type: 'image_url' }, null],
      text: 'This?\n[image_url]\n[part]',
    },
    { content: undefined, text: '' },
    { content: 7, text: '' },
  ])('have the text of $content', ({ content, text }) => {
    expect(shown(said(content))).toMatchObject([{ text }]);
  });

  test.each(['', '{"messages": [', 'null', '{"messages": 5}', { messages: [] }])('are none in %j', (body) => {
    expect(shown(body)).toEqual([]);
  });

  test.each([
    { messages: [null, 5, { role: 'tool' }, { role: 'assistant', tool_calls: [null, { function: 5 }] }] },
    { messages: [{ role: 'assistant', tool_calls: 'x' }] },
  ])('are shown whatever a program sent: %j', (body) => {
    expect(shown(body, { choices: 'none' })).toHaveLength(body.messages.length);
  });
});
