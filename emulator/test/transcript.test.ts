import { describe, expect, test } from 'vitest';
import { readTranscript } from '../inspector/conversations/transcript.js';

const said = (text: string) => readTranscript(text).messages.map(({ role, content }) => `${role}: ${content}`);

describe('a pasted conversation', () => {
  test.each([
    {
      what: 'plain speakers',
      text: 'User: Hello.\nAssistant: Hi.\nHow are you?',
      messages: ['user: Hello.', 'assistant: Hi.\nHow are you?'],
    },
    {
      what: 'Markdown in bold',
      text: '**Human:** Hello.\n\n**Claude:** Hi.',
      messages: ['user: Hello.', 'assistant: Hi.'],
    },
    {
      what: 'Markdown headings',
      text: '## User\nHello.\n\n## Assistant\nHi.',
      messages: ['user: Hello.', 'assistant: Hi.'],
    },
    {
      what: 'times and names',
      text: '[10:02] Anna: Hello.\n[10:03] Ben Holt: Hi.',
      messages: ['user: Hello.', 'assistant: Hi.'],
    },
    {
      what: 'a chat page',
      text: 'You said:\nHello.\nChatGPT said:\nHi.',
      messages: ['user: Hello.', 'assistant: Hi.'],
    },
    {
      what: 'a colon inside a message',
      text: 'User: Two things: a and b.\nAssistant: Fine.',
      messages: ['user: Two things: a and b.', 'assistant: Fine.'],
    },
    {
      what: 'code with colons',
      text: 'User: Look:\n```\nName: x\nOther: y\n```\nAssistant: Fine.',
      messages: ['user: Look:\n```\nName: x\nOther: y\n```', 'assistant: Fine.'],
    },
    {
      what: 'labels that are no speakers',
      text: 'User: How?\nNote: be brief.\nAssistant: So:\nStep 1: open it.\nStep 2: close it.\nNote: done.',
      messages: ['user: How?\nNote: be brief.', 'assistant: So:\nStep 1: open it.\nStep 2: close it.\nNote: done.'],
    },
    {
      what: 'three speakers',
      text: 'Anna: We start.\nBen Holt: Fine.\nNote: recorded.\nÇelik: Me too.\nAnna: Then go.',
      messages: [
        'user: Anna: We start.',
        'user: Ben Holt: Fine.\nNote: recorded.',
        'user: Çelik: Me too.',
        'user: Anna: Then go.',
      ],
    },
    {
      what: 'text before the first speaker',
      text: '# Planning\n\nUser: Hello.\nAssistant: Hi.',
      messages: ['user: # Planning', 'user: Hello.', 'assistant: Hi.'],
    },
    {
      what: 'a heading before names',
      text: '# Planning\n\nAnna: Hello.\nBen: Hi.\nAnna: So.',
      messages: ['user: # Planning', 'user: Hello.', 'assistant: Hi.', 'user: So.'],
    },
    {
      what: 'indented code, and a fence that never ends',
      text: 'User:\n\n    indented\n        more\n\nAssistant: ```\nUser: Next.',
      messages: ['user:     indented\n        more', 'assistant: ```', 'user: Next.'],
    },
    {
      what: 'a Markdown export',
      text: '#### **You:**\nHello.\n\n# A heading\n\n#### **ChatGPT:**\nHi.\nhttps: //x',
      messages: ['user: Hello.\n\n# A heading', 'assistant: Hi.\nhttps: //x'],
    },
    {
      what: 'an address in a line',
      text: 'User: See\nHttps://example.com',
      messages: ['user: See\nHttps://example.com'],
    },
    {
      what: 'a log with tool calls',
      text: JSON.stringify([
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '4 degrees' },
        { role: 'assistant', content: 'It is 4 degrees.' },
      ]),
      messages: [
        'user: Weather?',
        'assistant: [calls weather: {"city":"Oslo"}]',
        'assistant: [weather returned: 4 degrees]',
        'assistant: It is 4 degrees.',
      ],
    },
    {
      what: 'JSON Lines of messages',
      text: '{"role":"user","content":"Hello."}\n{"role":"assistant","content":"Hi."}\n',
      messages: ['user: Hello.', 'assistant: Hi.'],
    },
    {
      what: 'a log of requests and responses',
      text: [
        {
          request: { messages: [{ role: 'user', content: 'A' }] },
          response: { choices: [{ message: { content: 'B' } }] },
        },
        {
          request: { messages: ['A', 'B', 'C'].map((content, i) => ({ role: i % 2 ? 'assistant' : 'user', content })) },
          response: { choices: [{ message: { role: 'assistant', content: 'D' } }] },
        },
      ]
        .map((line) => JSON.stringify(line))
        .join('\n'),
      messages: ['user: A', 'assistant: B', 'user: C', 'assistant: D'],
    },
    {
      what: 'an export of ChatGPT, on its current branch',
      text: JSON.stringify([
        {
          title: 't',
          current_node: 'c',
          mapping: {
            a: { message: null },
            b: { parent: 'a', message: { author: { role: 'user' }, content: { parts: ['Hello.'] } } },
            x: { parent: 'b', message: { author: { role: 'assistant' }, content: { parts: ['Old.'] } } },
            c: { parent: 'b', message: { author: { role: 'assistant' }, content: { parts: ['Hi.'] } } },
          },
        },
      ]),
      messages: ['user: Hello.', 'assistant: Hi.'],
    },
    {
      what: 'an export of Claude',
      text: '{"chat_messages":[{"sender":"human","text":"Hello."},{"sender":"assistant","text":"Hi."}]}',
      messages: ['user: Hello.', 'assistant: Hi.'],
    },
    { what: 'no speaker', text: 'Just a note.\nTodo: buy milk.', messages: ['user: Just a note.\nTodo: buy milk.'] },
    {
      what: 'a JSON array',
      text: '[{"role":"human","content":"Hello."},{"role":"ai","content":"Hi."}]',
      messages: ['user: Hello.', 'assistant: Hi.'],
    },
    {
      what: 'a request',
      text: '{"model":"m","messages":[{"role":"developer","content":[{"type":"text","text":"Be kind."}]}]}',
      messages: ['system: Be kind.'],
    },
    { what: 'nothing', text: '  \n', messages: [] },
  ])('is recognized: $what', ({ text, messages }) => {
    expect(said(text)).toEqual(messages);
  });

  test('has its speakers with their counts, and takes each for what the user chooses', () => {
    const text = 'Anna: One.\nBen: Two.\nCarla: Three.\nAnna: Four.';

    expect(readTranscript(text).speakers).toEqual([
      { name: 'Anna', count: 2, choice: 'user' },
      { name: 'Ben', count: 1, choice: 'user' },
      { name: 'Carla', count: 1, choice: 'user' },
    ]);
    const { messages } = readTranscript(text, { speakers: { Ben: 'assistant', Carla: 'text', Anna: 'user' } });
    expect(messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: One.',
      'assistant: Two.\nCarla: Three.',
      'user: Four.',
    ]);
    expect(readTranscript(text, { speakers: { Carla: 'none' } }).messages).toHaveLength(3);
  });

  test('with several conversations has the one that is chosen, at first the last', () => {
    const text = '{"messages":[{"role":"user","content":"A"}]}\n{"messages":[{"role":"user","content":"B"}]}';

    expect(readTranscript(text)).toMatchObject({ conversations: 2, messages: [{ content: 'B' }] });
    expect(readTranscript(text, { conversation: 0 }).messages).toMatchObject([{ content: 'A' }]);
  });

  test('keeps the ids and times of its JSON', () => {
    const message = { id: 'm1', role: 'user', content: 'x', createdAt: '2026-01-01T00:00:00.000Z' };

    expect(readTranscript(JSON.stringify([message])).messages).toEqual([message]);
  });

  test.each([
    { text: '[{"role":"user"', error: 'cannot be read' },
    { text: '{"talk":[]}', error: 'array of messages' },
    { text: '[{"role":"wizard","content":"x"}]', error: 'Message 1 has the role "wizard"' },
    { text: '{"role":"user","content":"x"}\n{"role":}', error: 'Line 2 of the JSON Lines' },
    { text: '[{"role":"user"}]', error: 'Message 1 has no content' },
  ])('is rejected with a reason: $error', ({ text, error }) => {
    expect(() => readTranscript(text)).toThrow(error);
  });
});
