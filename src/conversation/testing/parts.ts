import { checkLoaded } from '../context/rows.js';
import { wordsOf } from '../index.js';
import { isSame, messageWith, type Rule, stateOf, Talk } from './talk.js';

/** The rules of parts. A store that always returns all messages keeps them. */
export const PARTS: Readonly<Record<string, Rule>> = {
  'a part has the newest messages, those with the ids and those at the positions that are wanted': async (talk) => {
    const stored = await talk.append('abcdefgh'.split(''));
    const part = await talk.part({ newest: 2, ids: [stored[3]?.id ?? '', 'unknown'], positions: [0, 5, 99] });
    const wanted = new Map([0, 3, 5, 6, 7].map((at) => [at, 'abcdefgh'.charAt(at)]));
    return (
      part &&
      isSame(
        [...wanted].filter(([at, text]) => part.get(at) !== text),
        [],
      )
    );
  },

  'a part has each message of which wordsOf has a wanted word: those that are stored now, of this conversation': async (
    talk,
  ) => {
    await new Talk(talk.tested).append(TEXTS);
    const stored = await talk.append(['First.', 'Second lantern.', ...TEXTS]);
    const messages = TEXTS.map((text, at) => ({ ...messageWith(text, at), name: `Ada ${at}` }));
    await talk.store(messages, { edits: 0, newest: stored.at(-1)?.id, after: stored[0]?.id });
    for (const [at, message] of messages.entries())
      for (const word of wordsOf(message)) {
        const part = await talk.part({ words: ['nowhere', word, 'neither'] });
        if (part === undefined) return undefined;
        if (part.get(at + 1) !== message.content)
          return `the word ${word} does not find ${JSON.stringify(message.content)}`;
      }
    const part = await talk.part({ words: wordsOf({ content: 'lantern' }) });
    return part && isSame([...part.values()].includes('Second lantern.'), false);
  },

  'a part has the count of all messages, positions from 0 without gaps, edits and the state': async (talk) => {
    const [, after, newest] = await talk.three();
    const messages = ['New.', 'Newer.'].map(messageWith);
    await talk.store(messages, { edits: 0, newest, after });
    await talk.store([...messages, messageWith('Newest.', 2)], { edits: 1 }); // two of them are stored
    await talk.tested.saveState?.(talk.id, stateOf('First'), 0);
    const part = await talk.part({ newest: 3 });
    if (part === undefined) return undefined;
    const nothing = { words: [], ids: [], positions: [] };
    const { count, edits, revision, state } = checkLoaded(await talk.tested.load(talk.id, { newest: 1, ...nothing }));
    const saved = talk.tested.saveState && stateOf('First');
    return (
      isSame([...part].slice(-3), [
        [2, 'New.'],
        [3, 'Newer.'],
        [4, 'Newest.'],
      ]) ?? isSame([count, edits, state, revision], [5, 1, saved, saved ? 1 : 0])
    );
  },

  'a part of a new conversation has no messages': async (talk) => {
    const part = await talk.part({ newest: 5, words: ['lanter'], ids: ['a'], positions: [0] });
    return part && isSame(part.size, 0);
  },
};

/** Texts of which a search finds each by any of its words, whatever its case, accents and script. */
const TEXTS = [
  'The harbours were PLANNED in 1995.',
  'Die Häfen öffnen um sechs.',
  'Kırmızı fener, KIRMIZI kapı',
  '码头装了一盏红灯。',
  'Ça coûte 2,50 € — n’est-ce pas ?',
  "it's a/b-test: `x_y` 'quoted' \"twice\" 100% {} [] \\ ; --",
  'ท่าเรือเปิดหกโมง',
];
