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

  test('keeps the ids and times of its JSON', () => {
    const message = { id: 'm1', role: 'user', content: 'x', createdAt: '2026-01-01T00:00:00.000Z' };

    expect(readTranscript(JSON.stringify([message])).messages).toEqual([message]);
  });

  test.each([
    { text: '[{"role":"user"', error: 'cannot be read' },
    { text: '{"talk":[]}', error: 'array of messages' },
    { text: '[{"role":"wizard","content":"x"}]', error: 'Message 1 has the role "wizard"' },
    { text: '[{"role":"user"}]', error: 'Message 1 has no content' },
  ])('is rejected with a reason: $error', ({ text, error }) => {
    expect(() => readTranscript(text)).toThrow(error);
  });
});
