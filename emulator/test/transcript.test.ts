import { describe, expect, test } from 'vitest';
import { readTranscript } from '../inspector/conversations/transcript.js';

const said = (text: string) => readTranscript(text).map(({ role, content }) => `${role}: ${content}`);

describe('a pasted conversation', () => {
  test.each([
    {
      what: 'lines that begin with a role',
      text: 'User: Hello.\nassistant: Hi.\nHow are you?\r\nSYSTEM:Be brief.',
      messages: ['user: Hello.', 'assistant: Hi.\nHow are you?', 'system: Be brief.'],
    },
    {
      what: 'other labels',
      text: 'User: Two things: a and b.\nNote: c.\nAssistant: Fine.',
      messages: ['user: Two things: a and b.\nNote: c.', 'assistant: Fine.'],
    },
    { what: 'text without roles', text: 'Hello.\nAnna: Hi.', messages: ['user: Hello.\nAnna: Hi.'] },
    { what: 'a time in brackets', text: '[10:32] Hello.\nUser: Hi.', messages: ['user: [10:32] Hello.', 'user: Hi.'] },
    { what: 'a role without a text', text: 'User:\n\nAssistant: Hi.', messages: ['assistant: Hi.'] },
    { what: 'nothing', text: ' \n', messages: [] },
    { what: 'an array', text: '[{ "role": "user", "content": "User: Hi." }]', messages: ['user: User: Hi.'] },
    {
      what: 'an object with messages',
      text: '{ "model": "m", "messages": [{ "role": "system", "content": "" }] }',
      messages: ['system: '],
    },
  ])('is read with $what', ({ text, messages }) => {
    expect(said(text)).toEqual(messages);
  });

  test('keeps ids and times of JSON', () => {
    const message = { role: 'user', content: 'Hello.', id: 'm1', createdAt: '2026-03-02T09:30:00Z' };

    expect(readTranscript(JSON.stringify([message]))).toEqual([message]);
  });

  test.each([
    { text: '{"messages": [', says: 'JSON' },
    { text: '{}', says: 'an array of messages' },
    { text: '[{ "role": "wizard", "content": "x" }]', says: 'Message 1 has the role "wizard"' },
    { text: '[{ "role": "user", "content": 5 }]', says: 'a text as content' },
    { text: '[{ "role": "user", "content": "x" }, null]', says: 'Message 2' },
  ])('that cannot be read is an error: $text', ({ text, says }) => {
    expect(() => readTranscript(text)).toThrow(says);
  });
});
