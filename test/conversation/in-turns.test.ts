import { expect, test } from 'vitest';
import { inTurns } from '../../src/conversation/in-turns.js';
import { called } from './scripted.js';
import { assistant, user } from './world.js';

const [one, two] = [user('One?', 'q1'), user('Two?', 'q2')];
const reply = (id: string, replyTo: string, more = {}) => ({ ...assistant(id, id), replyTo, ...more });

const calling = { content: 'I look.', reply: 'r', tool_calls: [called('x')] };
const resulting = { role: 'tool', tool_call_id: 'x', reply: 'r' };

/** The ids in their order, and in brackets those that are not sent. */
const shown = (...messages: Parameters<typeof inTurns>[0]) =>
  inTurns(messages)
    .map(({ id, excluded }) => (excluded ? `(${id})` : id))
    .join(' ');

test.each([
  { what: 'a late reply stands after its question', given: [one, two, reply('a1', 'q1')], is: 'q1 a1 q2' },
  { what: 'late replies in another order', given: [one, two, reply('a2', 'q2'), reply('a1', 'q1')], is: 'q1 a1 q2 a2' },
  { what: 'a message without replyTo stays where it is', given: [one, two, assistant('', 'a')], is: 'q1 q2 a' },
  { what: 'the app adds to a turn', given: [one, reply('a1', 'q1'), assistant('', 'a')], is: 'q1 a1 a' },
  {
    what: 'the app adds to a late reply',
    given: [one, reply('a', 'q1'), reply('b', 'q1'), assistant('', 'c')],
    is: 'q1 (a) b c',
  },
  {
    what: 'a newer reply that names the question counts',
    given: [one, assistant('', 'a'), reply('b', 'q1')],
    is: 'q1 (a) b',
  },
  {
    what: 'a late reply that names the question counts',
    given: [one, assistant('', 'a'), two, reply('a2', 'q2'), reply('b', 'q1')],
    is: 'q1 (a) b q2 a2',
  },
  {
    what: 'a message of the user is no reply',
    given: [one, reply('a1', 'q1'), { ...two, replyTo: 'q1' }, reply('a2', 'q2')],
    is: 'q1 a1 q2 a2',
  },
  { what: 'a greeting stands before all turns', given: [assistant('', 'a'), one], is: 'a q1' },
  { what: 'a reply whose question is gone comes first', given: [one, reply('a0', 'q0')], is: 'a0 q1' },
  { what: 'of several replies the newest', given: [one, reply('a', 'q1'), reply('b', 'q1')], is: 'q1 (a) b' },
  {
    what: 'a whole reply counts before a newer one that was stopped',
    given: [one, reply('a', 'q1'), reply('b', 'q1', { stopped: true })],
    is: 'q1 a (b)',
  },
  {
    what: 'a whole reply counts before an older one that was stopped',
    given: [one, reply('a', 'q1', { stopped: true }), reply('b', 'q1')],
    is: 'q1 (a) b',
  },
  {
    what: 'of two that were stopped the newer one counts',
    given: [one, reply('a', 'q1', { stopped: true }), reply('b', 'q1', { stopped: true })],
    is: 'q1 (a) b',
  },
  {
    what: 'with its question, a reply is excluded',
    given: [{ ...one, excluded: true }, two, reply('a2', 'q2'), reply('a1', 'q1')],
    is: '(q1) (a1) q2 a2',
  },
  {
    what: 'with its question, a reply without replyTo is excluded',
    given: [{ ...one, excluded: true }, assistant('', 'a1'), two],
    is: '(q1) (a1) q2',
  },
  {
    what: 'an excluded reply is still the one that counts',
    given: [one, reply('a', 'q1'), reply('b', 'q1', { excluded: true })],
    is: 'q1 (a) (b)',
  },
  {
    what: 'steps alone count before no whole reply',
    given: [one, reply('a', 'q1'), reply('c', 'q1', calling), reply('t', 'q1', resulting)],
    is: 'q1 a (c) (t)',
  },
  {
    what: 'steps alone are a reply where there is no other',
    given: [one, reply('a', 'q1', { stopped: true }), reply('c', 'q1', calling), reply('t', 'q1', resulting)],
    is: 'q1 (a) c t',
  },
  {
    what: 'calls that wait count as a whole reply',
    given: [one, reply('a', 'q1'), reply('c', 'q1', calling)],
    is: 'q1 (a) c',
  },
])('messages in turns: $what', ({ given, is }) => {
  expect(shown(...given)).toBe(is);
});

test('messages that are in turns already are the same array', () => {
  const messages = [one, reply('a1', 'q1'), two];

  expect(inTurns(messages)).toBe(messages);
});
