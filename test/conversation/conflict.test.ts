import type { ConversationMessage, StoredMessage } from 'context-gateway/conversation';
import { expect, test } from 'vitest';
import { afterConflict } from '../../src/conversation/turn/conflict.js';
import type { Place } from '../../src/conversation/turn/place.js';

const [T0, T1] = ['2026-05-03T09:00:00.000Z', '2026-05-03T09:00:01.000Z'];

const message = (role: string, content: string, id: string, more: Partial<StoredMessage> = {}): StoredMessage => ({
  ...{ role, content, id, createdAt: T0 },
  ...more,
});
const [zero, yes] = [message('user', 'Zero?', 'q0'), message('assistant', 'Yes.', 'a0', { replyTo: 'q0' })];
const question = message('user', 'One?', 'q1');
const reply = message('assistant', 'One.', 'a1', { replyTo: 'q1' });
const old = message('assistant', 'Old.', 'a2', { replyTo: 'q1' });
const edited = message('user', 'One, edited?', 'q1');
const other = message('user', 'Other?', 'q9');

const NEW: Place = { kind: 'new', input: [question] };
const RECORDED: Place = { kind: 'recorded', input: [question] };
const AGAIN: Place = { kind: 'again', input: [question] };
const ANSWER: Place = { kind: 'regenerate', input: [question], hasReply: false };
const REGENERATE: Place = { kind: 'regenerate', input: [question], hasReply: true };
const EDIT: Place = { kind: 'edit', input: [edited], from: 'q1' };

interface Row {
  place: Place;
  stores: StoredMessage[];
  /** What the other tab has done. */
  tab: string;
  now: ConversationMessage[];
  /** What the turn saw. */
  seen?: ConversationMessage[];
  /** Whether the page gave the ids. */
  isGiven?: boolean;
  /** Whether the response of the store was lost. Otherwise, it reported a conflict. */
  isLost?: boolean;
  next: 'done' | 'retry' | 'conflict';
  because: string;
}

/** What another tab may have done while a turn was under way: stored, edited, replaced, removed, or the same. */
const rows: Row[] = [
  {
    ...{ place: NEW, stores: [question], tab: 'stored another turn', now: [zero, yes, other] },
    ...{ next: 'conflict', because: 'the prompt does not have it' },
  },
  {
    ...{ place: NEW, stores: [question], tab: 'stored the same question', now: [{ ...question, createdAt: T1 }] },
    ...{ isGiven: true, next: 'conflict', because: 'that tab is asking it' },
  },
  {
    ...{ place: NEW, stores: [question], tab: 'stored the same question in the same millisecond', now: [question] },
    ...{ isGiven: true, next: 'conflict', because: 'that tab is asking it' },
  },
  {
    ...{ place: NEW, stores: [question], tab: 'stored the same text', now: [{ ...question, id: 'q8' }] },
    ...{ next: 'conflict', because: 'it is another question, also in the same millisecond' },
  },
  {
    ...{ place: NEW, stores: [question], tab: 'was this one, whose response was lost', now: [question] },
    ...{ isGiven: true, isLost: true, next: 'done', because: 'the store did not report a conflict' },
  },
  {
    ...{
      place: NEW,
      stores: [question],
      tab: 'edited an earlier question',
      now: [{ ...zero, content: 'Zero, edited?' }],
    },
    ...{ next: 'conflict', because: 'the prompt has its old text' },
  },
  {
    ...{ place: NEW, stores: [question], tab: 'removed all', now: [] },
    ...{ next: 'conflict', because: 'the prompt has what is gone' },
  },
  {
    ...{ place: NEW, stores: [question], tab: 'was this one', now: [zero, yes, question] },
    ...{ next: 'done', because: 'only the response of the store was lost' },
  },
  {
    ...{
      place: NEW,
      stores: [question],
      tab: 'was this one, in a database with other ids',
      now: [{ ...question, id: '7' }],
    },
    ...{ isLost: true, next: 'done', because: 'it is known by its time' },
  },
  {
    ...{
      place: NEW,
      stores: [question],
      tab: 'was this one, without times',
      now: [{ ...question, createdAt: undefined }],
    },
    ...{ next: 'done', because: 'it is known by its id' },
  },
  {
    ...{ place: RECORDED, stores: [question], tab: 'stored another turn', now: [zero, yes, other] },
    ...{ next: 'retry', because: 'the turn was made, and replaces nothing' },
  },
  {
    ...{ place: RECORDED, stores: [question], tab: 'stored the same question', now: [{ ...question, createdAt: T1 }] },
    ...{ next: 'done', because: 'it is stored once' },
  },
  {
    ...{ place: RECORDED, stores: [question], tab: 'stored the same question, and edited it', now: [edited] },
    ...{ next: 'conflict', because: 'its id has another text' },
  },
  {
    ...{ place: AGAIN, stores: [reply], tab: 'stored another turn', now: [question, old, other] },
    ...{ next: 'retry', because: 'the old reply stays, and this one becomes the newest' },
  },
  {
    ...{ place: AGAIN, stores: [reply], tab: 'stored another reply', now: [question, old] },
    ...{ next: 'retry', because: 'a whole reply replaces it' },
  },
  {
    ...{ place: AGAIN, stores: [{ ...reply, stopped: true }], tab: 'stored a whole reply', now: [question, old] },
    ...{ next: 'conflict', because: 'a part would replace the whole' },
  },
  {
    ...{ place: AGAIN, stores: [{ ...reply, stopped: true }], tab: 'stored another turn', now: [question, other] },
    ...{ next: 'retry', because: 'a part replaces nothing' },
  },
  {
    ...{
      place: AGAIN,
      stores: [reply],
      tab: 'stored the same reply',
      now: [question, { ...reply, id: 'a7', createdAt: T1 }],
    },
    ...{ next: 'done', because: 'it answers the same question with the same text' },
  },
  {
    ...{
      place: AGAIN,
      stores: [reply],
      tab: 'stored the same reply to another question',
      now: [question, other, { ...reply, id: 'a7', replyTo: 'q9' }],
    },
    ...{ next: 'retry', because: 'each question gets its own, also in the same millisecond' },
  },
  {
    ...{ place: AGAIN, stores: [reply], tab: 'stored a reply with this id', now: [question, { ...old, id: 'a1' }] },
    ...{ next: 'conflict', because: 'its id has another text' },
  },
  {
    ...{ place: AGAIN, stores: [reply], tab: 'edited the question', now: [edited, old] },
    ...{ next: 'conflict', because: 'the reply is to another text' },
  },
  {
    ...{ place: AGAIN, stores: [reply], tab: 'removed the question', now: [zero] },
    ...{ next: 'conflict', because: 'nothing is left to reply to' },
  },
  {
    ...{ place: ANSWER, stores: [reply], tab: 'stored another turn', now: [question, other] },
    ...{ next: 'retry', because: 'a first reply replaces nothing' },
  },
  {
    ...{ place: ANSWER, stores: [reply], tab: 'stored another reply', now: [question, old] },
    ...{ next: 'conflict', because: 'it has not seen this one' },
  },
  {
    ...{ place: AGAIN, stores: [reply], seen: [question, { ...reply, id: 'a3' }, other], tab: 'stored nothing' },
    ...{
      now: [question, { ...reply, id: 'a3' }, other],
      ...{ next: 'retry', because: 'the reply with the same text was there before' },
    },
  },
  {
    ...{ place: RECORDED, stores: [{ ...question, name: 'Bob' }], tab: 'stored the text of another user' },
    ...{ now: [{ ...question, id: 'q8', name: 'Ada' }], next: 'retry', because: 'both said it' },
  },
  {
    ...{ place: ANSWER, stores: [reply], tab: 'removed the question', now: [] },
    ...{ next: 'conflict', because: 'nothing is left to reply to' },
  },
  {
    ...{ place: REGENERATE, stores: [reply], tab: 'stored another turn', now: [question, old, other] },
    ...{ next: 'conflict', because: 'it would remove what it has not seen, or leave what it is to replace' },
  },
  {
    ...{ place: REGENERATE, stores: [reply], tab: 'replaced the reply', now: [question, { ...old, id: 'a8' }] },
    ...{ next: 'conflict', because: 'it has not seen this one' },
  },
  {
    ...{ place: REGENERATE, stores: [reply], tab: 'was this one', now: [question, reply] },
    ...{ next: 'done', because: 'only the response of the store was lost' },
  },
  {
    ...{ place: EDIT, stores: [edited, reply], tab: 'stored another turn', now: [question, old, other] },
    ...{ next: 'conflict', because: 'it would remove what it has not seen' },
  },
  {
    ...{
      place: EDIT,
      stores: [edited, reply],
      tab: 'made the same edit',
      now: [edited, { ...old, replyTo: undefined }],
    },
    ...{ next: 'conflict', because: 'it would remove a reply that it has not seen' },
  },
  {
    ...{ place: EDIT, stores: [edited, reply], tab: 'removed the question', now: [zero] },
    ...{ next: 'conflict', because: 'nothing is left to edit' },
  },
  {
    ...{ place: EDIT, stores: [edited, reply], tab: 'was this one', now: [zero, edited, reply] },
    ...{ next: 'done', because: 'only the response of the store was lost' },
  },
];

test.each(rows)(
  '$place.kind, another tab $tab: $next, because $because',
  ({ place, stores, now, next, seen = [zero, yes], isGiven, isLost }) => {
    const made = new Set(isGiven ? [] : stores.map(({ id }) => id));

    expect(afterConflict(place, stores, { seen, now, made, isConflict: isLost !== true })).toMatchObject({ next });
  },
);

test('only what is missing is stored: the ids of the rest are known', () => {
  const two = message('user', 'Two?', 'q2', { createdAt: T1 });

  const after = afterConflict({ kind: 'recorded', input: [question, two] }, [question, two], {
    seen: [],
    now: [{ ...question, id: '7' }],
    made: new Set(),
    isConflict: true,
  });

  expect(after).toEqual({ next: 'retry', ids: ['7', undefined] });
});
