import { fieldsOf, isSame, messageWith, type Rule, START, Talk } from './talk.js';

/** What each rule of `append` is, and what was seen if it is broken. */
export const STORING: Readonly<Record<string, Rule>> = {
  'load returns null, undefined or no messages, and no state, for a new conversation': async (talk) => {
    const { messages, edits, state, revision } = await talk.load();
    return isSame([messages, edits, state ?? null, revision], [[], 0, null, 0]);
  },

  'load returns the messages in order, with role, content, id and createdAt as append got them': async (talk) => {
    // The later has the earlier time, as from another server, and the ids rise and fall.
    const messages = ['One.', 'Two.', 'Three.'].map((text, at) => ({
      ...messageWith(text, at),
      id: `${'mzA'.charAt(at)}-x Y`,
    }));
    const given = messages.map((message, at) => ({
      ...message,
      createdAt: new Date(START - at * 1_000).toISOString(),
    }));
    await talk.store(given);
    return isSame((await talk.load()).messages.map(fieldsOf), given.map(fieldsOf));
  },

  'load returns every field of a message, also those of the app, as append got it': async (talk) => {
    const facts = {
      finish_reason: 'length',
      model: 'm',
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    };
    const fields = [
      { name: 'Ada', excluded: true, ownField: { b: 1, a: [null, 'x'] } },
      { stopped: true, replyTo: 'a', recalled: [{ id: 'a', score: 0.5, match: 'words' as const }], ...facts },
    ];
    const given = fields.map((more, at) => ({ ...messageWith('Text.', at), ...more }));
    await talk.store(given);
    return isSame((await talk.load()).messages.map(fieldsOf), given.map(fieldsOf));
  },

  'load returns text unchanged: emoji, quotes, spaces, line breaks, 100,000 characters': async (talk) => {
    const text = ` "O'Hara" 👩‍🚀 \\ é e\u0301 \t\r\n${'x'.repeat(100_000)} `;
    await talk.append([text]);
    return (await talk.texts()) === text ? undefined : 'the text has changed';
  },

  'load returns ids unchanged, also those that differ only in their case or a space': async (talk) => {
    const ids = [
      'ABCDEF12-0000-4000-8000-00000000000A',
      'abcdef12-0000-4000-8000-00000000000a',
      ' x ',
      ' x',
      '007',
      '7',
    ];
    const added: number[] = [];
    for (const [at, id] of ids.entries()) added.push(await talk.store([{ ...messageWith('Text.', at), id }]));
    const loaded = (await talk.load()).messages.map(({ id }) => id);
    return isSame([added, loaded], [ids.map(() => 1), ids]);
  },

  'load returns 0, null or nothing as edits of a new conversation, and append adds to the newest': async (talk) => {
    await talk.three();
    await talk.append(['Four.']);
    return isSame((await talk.load()).edits, 0) ?? isSame(await talk.texts(), 'One. Two. Three. Four.');
  },

  'load returns all messages, however many there are, and all of the newest that are wanted': async (talk) => {
    const texts = Array.from({ length: 1_050 }, (_, at) => `Message ${at}.`);
    await talk.append(texts);
    const { length } = (await talk.load()).messages;
    if (length !== texts.length) return `it returns ${length} of ${texts.length}`;
    const part = await talk.part({ newest: 1_040 });
    return (
      part &&
      isSame(
        texts.findIndex((text, at) => at >= 10 && part.get(at) !== text),
        -1,
      )
    );
  },

  'append returns how many messages it added: those whose id is not stored': async (talk) => {
    const messages = ['One.', 'Two.', 'Three.'].map(messageWith);
    const added = [await talk.store(messages.slice(0, 2)), await talk.store(messages), await talk.store(messages)];
    return isSame(added, [2, 1, 0]) ?? isSame(await talk.texts(), 'One. Two. Three.');
  },

  'append stores a message of which another conversation has the id, and changes only its own conversation': async (
    talk,
  ) => {
    const messages = ['One.', 'Two.'].map(messageWith);
    const other = new Talk(talk.tested);
    const added = [await other.store(messages), await talk.store(messages)];
    const [id = '', newest] = messages.map((message) => message.id);
    await talk.tested.setExcluded?.(talk.id, id, 1);
    await talk.append(['New.'], { edits: 0, newest, after: null });
    const left = await other.load();
    return (
      isSame([added, await talk.texts()], [[2, 2], 'New.']) ??
      isSame([left.messages.map(fieldsOf), left.edits], [messages.map(fieldsOf), 0])
    );
  },

  'append stores a message once that is stored twice at the same moment': async (talk) => {
    await talk.three();
    const message = messageWith('Four.', 0);
    const added = await Promise.all([talk.store([message]), talk.store([message])]);
    return isSame(added[0] + added[1], 1) ?? isSame(await talk.texts(), 'One. Two. Three. Four.');
  },

  'append stores all of several that add at the same moment': async (talk) => {
    await talk.three();
    const texts = Array.from({ length: 8 }, (_, at) => `Text ${at}.`);
    await Promise.all(texts.map((text) => talk.append([text])));
    const { messages } = await talk.load();
    return isSame(
      messages
        .slice(3)
        .map(({ content }) => content)
        .sort(),
      texts,
    );
  },

  'append replaces what follows `after`, and adds 1 to edits': async (talk) => {
    const [after, , newest] = await talk.three();
    await talk.append(['New.'], { edits: 0, newest, after });
    return isSame([(await talk.load()).edits, await talk.texts()], [1, 'One. New.']);
  },

  'append replaces everything with `after: null`': async (talk) => {
    const newest = (await talk.three()).at(-1);
    await talk.append(['New.'], { edits: 0, newest, after: null });
    return isSame([(await talk.load()).edits, await talk.texts()], [1, 'New.']);
  },

  'append gives a message that it deletes and gets again its place and its excluded': async (talk) => {
    const [after, id = '', newest] = await talk.three();
    await talk.tested.setExcluded?.(talk.id, id, 1);
    const added = await talk.store([messageWith('Late.', 1), { ...messageWith('Edited.', 0), id }], {
      edits: 0,
      newest,
      after,
    });
    const seen = (await talk.load()).messages.map(({ content, excluded }) => [content, excluded === true]);
    return isSame(
      [added, seen],
      [
        2,
        [
          ['One.', false],
          ['Late.', false],
          ['Edited.', true],
        ],
      ],
    );
  },

  'append throws a ConversationConflictError, and changes nothing, if `edits` is another number': async (talk) => {
    const [after, , newest] = await talk.three();
    for (const edits of [1, 2]) if (!(await talk.refuses({ edits }))) return `it takes ${edits} for the 0 edits`;
    await talk.append(['New.'], { edits: 0, newest, after });
    if (!(await talk.refuses({ edits: 0 }))) return 'it takes 0 after an edit';
    if (await talk.refuses({ edits: 1 }, 'Added.')) return 'it refuses 1 after an edit';
    return isSame(await talk.texts(), 'One. New. Added.');
  },

  'append throws a ConversationConflictError, and changes nothing, if `newest` is not the newest message': async (
    talk,
  ) => {
    if (!(await talk.refuses({ edits: 0, newest: 'unknown' }))) return 'it takes unknown for the newest of no message';
    const ids = await talk.three();
    for (const newest of [null, ...ids.slice(0, 2), 'unknown'])
      if (!(await talk.refuses({ edits: 0, newest, after: ids[0] })))
        return `it takes ${newest} for the newest of three messages`;
    return isSame(await talk.texts(), 'One. Two. Three.');
  },

  'append throws a ConversationConflictError, and changes nothing, if `after` is not stored': async (talk) => {
    const newest = (await talk.three()).at(-1);
    if (!(await talk.refuses({ edits: 0, newest, after: 'unknown' }))) return 'it stores messages after an unknown one';
    return isSame([await talk.texts(), (await talk.load()).edits], ['One. Two. Three.', 0]);
  },

  'append makes one of two edits at the same moment, and refuses the other': async (talk) => {
    const [after, , newest] = await talk.three();
    const refused = await Promise.all(['A.', 'B.'].map((text) => talk.refuses({ edits: 0, newest, after }, text)));
    const { edits, messages } = await talk.load();
    if (refused.filter(Boolean).length !== 1) return `it refuses ${refused.filter(Boolean).length} of 2`;
    return isSame([edits, messages.length], [1, 2]);
  },

  'append makes one of an edit and an addition at the same moment, or both in their order': async (talk) => {
    const [after, , newest] = await talk.three();
    const [isEdited, isAdded] = (
      await Promise.all([talk.refuses({ edits: 0, newest, after }, 'Edit.'), talk.refuses({ edits: 0 }, 'Added.')])
    ).map((isRefused) => !isRefused);
    const expected = isEdited ? 'One. Edit.' : 'One. Two. Three. Added.';
    return isSame([isEdited, isAdded], [isEdited, !isEdited]) ?? isSame(await talk.texts(), expected);
  },

  'setExcluded marks a message, and takes it in again': async (talk) => {
    const [, id = ''] = await talk.three();
    const marks: unknown[] = [];
    for (const excluded of [1, 0] as const) {
      await talk.tested.setExcluded?.(talk.id, id, excluded);
      marks.push((await talk.load()).messages.map((message) => message.excluded === true));
    }
    await talk.tested.setExcluded?.(talk.id, 'unknown', 1);
    const none = [false, false, false];
    return isSame([marks, (await talk.load()).edits], [[[false, true, false], none], 0]);
  },
};
