import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { inSlices } from '../../src/base/pauses.js';
import { excerptOf, passagesOf } from '../../src/conversation/search/passages.js';
import type { SearchQuery } from '../../src/conversation/search/rank.js';
import { atOnce, searchMessages } from '../../src/conversation/search/search-messages.js';
import { wordsIn } from '../../src/conversation/search/words.js';
import { atLength } from '../helpers/endurance.js';

type Message = { content: string; name?: string; createdAt?: string };

const talkOf = (messages: readonly (string | Message)[]) =>
  messages.map((one) => ({ role: 'user', ...(typeof one === 'string' ? { content: one } : one) }));
type Talk = ReturnType<typeof talkOf>;

const NOW = '2026-01-15T10:00:00.000Z';

function around(talk: Talk, text: string, options: Partial<SearchQuery> = {}) {
  return atOnce(searchMessages(talk, { text, limit: 400, now: NOW, ...options })).messages;
}

function positions(talk: Talk, query: string, options: Partial<SearchQuery> = {}): number[] {
  return around(talk, query, options).map(({ position }) => position);
}

/** The day of the message that is found first, of thirty days with a message each. */
function dayFound(query: string): string | undefined {
  const days = Array.from({ length: 30 }, (_, i) => new Date(Date.UTC(2023, 3, 10 + i)).toISOString());
  const talk = talkOf(days.map((createdAt, i) => ({ content: `Entry number${i}.`, createdAt })));
  return days[positions(talk, query)[0] ?? 0];
}

/** Messages about nothing in particular, each with words of its own. */
const small = Array.from({ length: 40 }, (_, i) => `Line ${i} is about topic${i} and matter${i * 7}.`);

describe('a search in the messages of a conversation', () => {
  test.each(['Go on', 'Yes, please.', 'Danke!', 'Merci', 'Gracias', '谢谢！', ''])(
    'finds nothing for an input without a rare term: %s',
    (query) => {
      const talk = small.flatMap((line) => [line, 'Thanks! Go on. Danke. 谢谢！好的，继续。']);

      expect(positions(talkOf(talk), query, { previous: ['What about topic3?'] })).toEqual([]);
    },
  );

  test('finds the messages beside a hit before others that match less', () => {
    const talk = talkOf([
      ...small,
      'What about the heating in the harbour office?',
      'It will be replaced in autumn.',
      ...small,
      'The office opens at nine.',
    ]);

    expect(positions(talk, 'heating of the harbour office').slice(0, 2).sort()).toEqual([40, 41]);
  });

  test('ranks a message among others on the subject above one that stands alone', () => {
    const about = ['The ferry needs a new engine.', 'Engines of that size are rare.', 'The ferry yard has one engine.'];
    const talk = talkOf([...small, 'I saw an engine.', ...small, ...about, ...small]);

    expect(positions(talk, 'engine').slice(0, 3).sort()).toEqual([81, 82, 83]);
  });

  test.each([
    { where: 'before', at: 20 },
    { where: 'after', at: 50 },
  ])('ranks a message higher if its subject is talked about some way $where it', ({ at }) => {
    const talk: string[] = [...small, ...small, ...small, ...small, ...small];
    talk.fill('The ferry was repaired again.', at, at + 10);
    for (const engine of [45, 165]) talk[engine] = 'I saw an engine.'; // of two equal ones, the later would be better

    const found = positions(talkOf(talk), 'engine of the ferry');

    expect(found.indexOf(45)).toBeLessThan(found.indexOf(165));
  });

  test.each([
    ['What did I say on May 4th?'],
    ['What did I say on 4 May 2023?'],
    ['Was habe ich am 4. Mai gesagt?'],
    ['¿Qué dije el 4 de mayo?'],
    ['我5月4日说了什么？'],
    ['五月四日我说了什么'],
    ['What happened on 2023-05-04?'],
    ['What did I say last Thursday?'],
    ['四月十四日我说了什么', '2023-04-14'],
    ['四月二十日我说了什么', '2023-04-20'],
  ])('finds a message by its date: %s', (query, date = '2023-05-04') => {
    expect(dayFound(query)).toContain(date);
  });

  test.each(['我星期四说了什么？', '礼拜四我说了什么', '木曜日に何を言いましたか？'])(
    'finds a message by its weekday: %s',
    (query) => expect(new Date(dayFound(query) ?? 0).getUTCDay()).toBe(4),
  );

  test.each([
    { now: '2024-06-04T09:00:00.000Z', yesterday: 2 },
    { now: '2024-06-05T22:00:00-07:00', yesterday: 3 },
    { now: '2024-06-08T09:00:00.000Z', yesterday: undefined },
  ])('finds "yesterday" from the time of the question, $now', ({ now, yesterday }) => {
    const days = [1, 2, 3, 4].map((day) => ({ content: 'Some talk.', createdAt: `2024-06-0${day}T10:00:00Z` }));

    expect(positions(talkOf(days), 'What did we discuss yesterday?', { now })[0]).toBe(yesterday);
  });

  test.each([
    { said: 'İSTANBUL ofisi kapandı.', query: 'istanbul ne oldu?' },
    { said: 'KIRMIZI lamba takıldı.', query: 'kırmızı nerede?' },
    { said: 'Die Häfen sind geschlossen.', query: 'Hafen' },
    { said: 'الميناء مغلق يوم الأحد.', query: 'ما أخبار ميناء أوسلو؟' },
    { said: 'הַנָּמָל נִפְתָּח בשש.', query: 'מתי הנמל?' },
    { said: 'اشتريت الكتاب أمس.', query: 'أين كتاب؟' },
    { said: 'Die Straße ist gesperrt.', query: 'STRASSE' },
    { said: 'Byliśmy w Łodzi.', query: 'lodzi' },
    { said: 'レストランはCafé Müllerです', query: 'Müller' },
    { said: 'Zürich에서 만나요', query: 'zurich' },
    { said: '請求書はPostgreSQLに保存することにしました。', query: '請求書の保存先は？' },
    { said: 'Мы решили хранить счета в PostgreSQL.', query: 'Где мы будем хранить счета?' },
    { said: 'हम चालान PostgreSQL में रखते हैं।', query: 'चालान कहाँ हैं?' },
    { said: 'We keep invoices in PostgreSQL.', query: 'Ｗｈｅｒｅ ａｒｅ ｉｎｖｏｉｃｅｓ？' },
    { said: 'We keep invoices in a database.', query: 'Write a mail that mentions the invoices and their database' },
    { said: 'We keep invoices in a database.', query: 'Welche Database für Invoices war das' },
    { said: 'The roof may cost at most twelve thousand euros.', query: 'What may the roof cost?' },
  ])('finds "$said" for "$query"', ({ said, query }) => {
    expect(positions(talkOf([...small, said, ...small]), query)[0]).toBe(small.length);
  });

  test('finds a word with its accent before one without it', () => {
    expect(positions(talkOf([...small, 'Vi firar med får.', 'Vi far nu.']), 'får')[0]).toBe(small.length);
  });

  test.each(['What is the status of 48213?', 'Who has the number 12345?', 'What about the ratio?'])(
    'finds no words that only contain another: %s',
    (query) => {
      const talk = ['Ticket 77482134 is closed.', 'My phone is 00479123456.', 'It was an international workshop.'];

      expect(positions(talkOf([...small, ...talk]), query)).toEqual([]);
    },
  );

  test('finds a message by its speaker', () => {
    const talk = small.map((content, i) => ({ content, name: i === 17 ? 'Dr. Okafor' : 'Lee' }));

    expect(positions(talkOf(talk), 'What did Okafor say?')[0]).toBe(17);
  });

  test('uses the messages before the query only if it says little itself', () => {
    const talk = [...small, 'The pier in Aldwick is closed.', ...small, 'The pier in Borstal is open.', ...small];
    const best = (query: string) => positions(talkOf(talk), query, { previous: ['What about Aldwick?'] })[0];

    expect(best('And the pier?')).toBe(40);
    expect(best('Is the Borstal pier open?')).toBe(81);
  });

  test('finds the one rare word of a query before messages with the words of the message before', () => {
    const talk = [
      'The gate key hangs beside the blue lantern in the office.',
      'The ferry to Bergen leaves at noon.',
      'Bikes travel for free on Sundays.',
      'The bar on deck two closes at nine.',
      'Dogs need a lead on every deck.',
    ];

    const messages = around(talkOf(talk), 'Where is the lantern?', { previous: talk.slice(-2), limit: 5 });

    expect(messages[0]).toMatchObject({ position: 0, match: 'words' });
    expect(messages).toContainEqual(expect.objectContaining({ position: 4, match: 'beside' })); // not a source
  });

  test('counts each message for itself only, if asked to', () => {
    const talk = talkOf([...small, 'The red boat.', ...small]);

    expect(positions(talk, 'red boat', { weight: 0 })).toEqual([40]);
  });

  test('gives the best ones, whatever the limit', () => {
    const others = Array.from({ length: 300 }, (_, n) => `Remark${n} on matter${n * 7}.`);
    const boats = Array.from({ length: 60 }, (_, n) => `boat ${'wave '.repeat((n * 7) % 23)}`);
    const talk = talkOf([...others, ...boats]);
    const found = (limit: number) => around(talk, 'boat', { limit, weight: 0 });

    const all = found(1_000);

    expect(all).toHaveLength(60);
    for (let limit = 1; limit <= 60; limit += 1) expect(found(limit)).toEqual(all.slice(0, limit));
  });

  test('finds a long message by one of its passages, and gives it once', () => {
    const paragraphs = Array.from({ length: 20 }, (_, i) => `Paragraph ${i} ${`filler${i} `.repeat(30)}`);
    paragraphs[11] = 'The deadline of the export is six in the morning.';
    const long = paragraphs.join('\n\n');

    const found = positions(talkOf([...small, long, ...small]), 'deadline of the export');

    expect(found[0]).toBe(40);
    expect(new Set(found).size).toBe(found.length);
    expect(excerptOf(long, 'deadline of the export', 1000)).toContain('six in the morning');
    expect(excerptOf(long, 'nothing of it', 1000)).toContain('Paragraph 0 ');
  });

  test.each([
    { fake: undefined, because: 'on Node' },
    { fake: ['setImmediate', 'setTimeout'] as const, because: 'in a test with fake timers' },
  ])('lets other events be handled while a long history is searched $because', async ({ fake }) => {
    const talk = talkOf(Array.from({ length: 60_000 }, (_, n) => `Remark${n} on the weather in the harbour town.`));
    let [now, turns, isOver] = [0, 0, false];
    vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 1; // each look at the clock
      return now;
    });
    const { setImmediate } = globalThis;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    count();
    if (fake !== undefined) vi.useFakeTimers({ toFake: [...fake] });

    const { messages } = await inSlices(searchMessages(talk, { text: 'remark15000', limit: 9, now: NOW }));
    isOver = true;
    vi.useRealTimers();
    vi.restoreAllMocks();

    expect(turns).toBeGreaterThan(10);
    expect(messages[0]?.position).toBe(15_000);
  });

  test('finds every message that has a word of the query, and no other, in any script', () => {
    const word = fc.constantFrom(
      ...[
        'Hafen',
        'häfen',
        'HÄFEN',
        'harbours',
        'harbour',
        'KIRMIZI',
        'kırmızı',
        'straße',
        'Strasse',
        'ＡＢＣ',
        'abc1',
        '5th',
        '15',
      ],
      ...[
        '船港',
        '红色的船',
        '港口abc',
        'الميناء',
        'ميناء',
        'été',
        'e\u0301te\u0301',
        'foo_bar',
        'x-ray',
        '“Quay”',
        'ąę',
        'Łódź',
        'lodz',
      ],
    );
    const text = fc.array(fc.tuple(word, fc.constantFrom(' ', '. ', ' — ', '\n', '')), { minLength: 1, maxLength: 6 });
    const joined = text.map((parts) => parts.flat().join(''));
    fc.assert(
      fc.property(fc.array(joined, { minLength: 1, maxLength: 9 }), word, (texts, query) => {
        const talk = talkOf([...small, ...texts, ...small]);
        const wanted = new Set(wordsIn(query));
        const have = texts.flatMap((one, at) =>
          wordsIn(one).some((own) => wanted.has(own)) ? [small.length + at] : [],
        );

        const found = around(talk, query, { weight: 0 }).filter(({ match }) => match === 'words');

        if (have.length > 0) expect(found.map(({ position }) => position)).toEqual(expect.arrayContaining(have));
        for (const { text: one } of found)
          expect(have.length === 0 || wordsIn(one).some((own) => wanted.has(own) || own.slice(0, 5).length === 5)).toBe(
            true,
          );
      }),
      { numRuns: atLength(500, 2_000) },
    );
  });
});

describe('the passages of a message', () => {
  test('are the message itself if it is short', () => {
    expect(passagesOf('One.\n\nTwo.', 1000)).toEqual(['One.\n\nTwo.']);
  });

  test('contain code blocks and tables in one piece', () => {
    const code = `\`\`\`ts\n${'const line = 1;\n\n'.repeat(120)}\`\`\``;
    const table = `| a | b |\n|---|---|\n${'| one | two |\n'.repeat(150)}`;
    const passages = passagesOf(`${'Before. '.repeat(80)}\n\n${code}\n\nBetween.\n\n${table}\n\nAfter.`, 1000);

    expect(passages.some((text) => text.includes(code))).toBe(true);
    expect(passages.some((text) => text.includes(table.trim()))).toBe(true);
  });

  test('lose no character that is not white space, in linear time', () => {
    const bare = (text: string): string => text.replace(/\s/g, '');
    for (const text of ['.', '\n', '`', '```\n', '| '].map((piece) => piece.repeat(60_000 / piece.length)))
      expect(bare(passagesOf(text, 1000).join(''))).toBe(bare(text));
  });
});
