import { entriesOf, sectionsOf } from './conversation.js';
import { card, count, h, percent } from './dom.js';

/** Two versions of the summary side by side: what went, what came, what stayed. */
export function versionsCard(versions, { again, memory }) {
  const numbers = versions.map(({ summary }) => summary.version);
  const newest = numbers.at(-1);
  const to = memory.get('to') ?? newest;
  const from = memory.get('from') ?? Math.max(0, to - 1);
  const choose = (name, chosen, label) =>
    h(
      'label',
      {},
      `${label} `,
      h(
        'select',
        {
          id: `version-${name}`,
          onchange: (event) => {
            memory.set(name, Number(event.target.value));
            again();
          },
        },
        [0, ...numbers].map((number) =>
          h(
            'option',
            { value: String(number), selected: number === chosen },
            number === 0 ? 'empty' : `version ${number}`,
          ),
        ),
      ),
    );
  const left = find(versions, from);
  const right = find(versions, to);
  return card(
    'Versions of the summary',
    h('div', { class: 'group' }, choose('from', from, 'from'), choose('to', to, 'to')),
    h(
      'div',
      { class: 'versions' },
      column(left, right, 'gone', `Version ${from}`),
      column(right, left, 'new', `Version ${to}`),
    ),
  );
}

function find(versions, number) {
  return versions.find(({ summary }) => summary.version === number);
}

function column(version, other, mark, title) {
  const lines = linesOf(version);
  const known = new Set(linesOf(other).map(({ key }) => key));
  return h(
    'div',
    { class: 'version' },
    h('h4', {}, title, h('span', { class: 'muted' }, version ? describe(version) : 'nothing summarized yet')),
    sectionsOf().map(([section, heading]) => {
      const entries = lines.filter((line) => line.section === section);
      return (
        entries.length > 0 &&
        h(
          'div',
          {},
          h('h5', {}, heading),
          h(
            'ul',
            {},
            entries.map(({ key, text, note }) => {
              const changed = !known.has(key);
              const sign = mark === 'new' ? '+' : '−';
              const said = mark === 'new' ? 'added: ' : 'removed: ';
              return h(
                'li',
                { class: changed ? mark : 'same' },
                h('span', { class: 'sign', 'aria-hidden': 'true' }, changed ? sign : ''),
                changed && h('span', { class: 'unseen' }, said),
                h('span', {}, note ? `${text} — ${note}` : text),
              );
            }),
          ),
        )
      );
    }),
  );
}

function linesOf(version) {
  if (version === undefined) return [];
  return sectionsOf().flatMap(([section]) =>
    entriesOf(version.summary, section).map((entry) => ({
      section,
      ...entry,
      key: `${section} ${entry.text} ${entry.note}`,
    })),
  );
}

function describe({ cause, summarizer, previousTokens, compressedTokens, totalTokens }) {
  const how = cause === 'exclude' ? 'a message was excluded' : `${cause} compaction`;
  const who = summarizer === 'upstream' ? ' by a model' : '';
  const share = totalTokens > 0 ? ` (${percent(compressedTokens / totalTokens)})` : '';
  return `${how}${who} · ${count(previousTokens)} to ${count(compressedTokens)} tokens${share}`;
}
