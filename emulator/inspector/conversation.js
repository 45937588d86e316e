import { ask } from './api.js';
import { bar, card, count, empty, h, percent, timeOf } from './dom.js';
import { versionsCard } from './versions.js';

const SECTIONS = [
  ['goals', 'Goals'],
  ['decisions', 'Decisions'],
  ['requirements', 'Requirements'],
  ['currentPlan', 'Current plan'],
  ['openQuestions', 'Open questions'],
  ['definitions', 'Definitions'],
  ['importantReferences', 'References'],
];

/** One conversation: its tokens, its summary, its messages, and how the summary changed. */
export function conversationView(conversation, { again, memory }) {
  const { id, rollingSummary, metadata, messages, versions } = conversation;
  const compact = (level) => async () => {
    await ask('POST', `/conversations/${encodeURIComponent(id)}/compact`, { level });
    await again();
  };
  const levels = ['light', 'deep', 'aggressive'].map((level) =>
    h('button', { type: 'button', id: `compact-${level}`, onclick: compact(level) }, level),
  );
  return h(
    'article',
    {},
    h(
      'header',
      { class: 'title' },
      h('div', {}, h('h2', {}, id), h('p', { class: 'muted' }, lastCompaction(metadata, rollingSummary))),
      h('div', { class: 'group', role: 'group', 'aria-label': 'Compact' }, h('span', {}, 'Compact'), levels),
    ),
    tokensCard(metadata, messages),
    h('div', { class: 'columns' }, summaryCard(rollingSummary), messagesCard(messages, conversation.pinnedMemory)),
    versions.length > 0 && versionsCard(versions, { again, memory }),
  );
}

function lastCompaction({ lastCompactionAt }, { version }) {
  if (lastCompactionAt === null) return 'never compacted';
  return `summary version ${version} · compacted ${lastCompactionAt.slice(0, 10)} ${timeOf(lastCompactionAt)} UTC`;
}

function tokensCard({ totalTokens, compressedTokens, preservationRatio }, messages) {
  const tokensOf = (standing) =>
    messages.filter((message) => message.standing === standing).reduce((sum, { tokens }) => sum + tokens, 0);
  const recent = tokensOf('recent');
  const pinned = tokensOf('pinned');
  const parts = [
    { kind: 'summary', name: 'summary', value: Math.max(0, compressedTokens - recent - pinned) },
    { kind: 'pinned', name: 'pins', value: pinned },
    { kind: 'recent', name: 'recent messages', value: recent },
  ];
  const figure = (value, label) => h('div', { class: 'figure' }, h('strong', {}, value), h('span', {}, label));
  return h(
    'section',
    { class: 'card tokens', 'aria-label': 'Tokens' },
    h(
      'div',
      { class: 'figures' },
      figure(count(totalTokens), 'tokens in all live messages'),
      figure(count(compressedTokens), 'tokens in the context'),
      figure(percent(preservationRatio), 'of the tokens preserved'),
    ),
    bar(parts, Math.max(totalTokens, compressedTokens), `${count(compressedTokens)} of ${count(totalTokens)} tokens`),
    h(
      'ul',
      { class: 'legend' },
      parts.map(({ kind, name, value }) => h('li', { class: kind }, `${name} ${count(value)}`)),
      h('li', { class: 'saved' }, `removed ${count(Math.max(0, totalTokens - compressedTokens))}`),
    ),
  );
}

/** The entries of one section, as text for a reader. */
export function entriesOf(summary, section) {
  if (section === 'decisions')
    return summary.decisions.map(({ decision, reason }) => ({ text: decision, note: reason }));
  if (section === 'definitions') return Object.entries(summary.definitions).map(([text, note]) => ({ text, note }));
  if (section === 'importantReferences') {
    return summary.importantReferences.map(({ type, value, label }) => ({ text: value, note: label, tag: type }));
  }
  return summary[section].map((text) => ({ text, note: '' }));
}

/** The sections of a summary, in reading order. */
export function sectionsOf() {
  return SECTIONS;
}

function summaryCard(summary) {
  const sections = SECTIONS.map(([section, title]) => {
    const entries = entriesOf(summary, section);
    return (
      entries.length > 0 &&
      h(
        'section',
        { class: `section ${section}` },
        h('h4', {}, title, h('span', { class: 'number' }, String(entries.length))),
        h(
          'ul',
          {},
          entries.map(({ text, note, tag }) =>
            h(
              'li',
              {},
              tag && h('span', { class: 'tag' }, tag),
              h('span', { class: 'text' }, text),
              note && h('span', { class: 'note' }, note),
            ),
          ),
        ),
      )
    );
  }).filter(Boolean);
  const style = Object.entries(summary.stylePreferences);
  return card(
    'Rolling summary',
    h('span', { class: 'muted' }, `version ${summary.version}`),
    sections.length === 0 ? empty('Empty: the messages stand in the context as they were said.') : sections,
    style.length > 0 && h('p', { class: 'muted' }, `style: ${JSON.stringify(summary.stylePreferences)}`),
  );
}

function messagesCard(messages, pins) {
  const category = new Map(pins.map((pin) => [pin.messageId, pin.category]));
  const rows = messages.map(({ id, role, content, standing, tokens }) =>
    h(
      'li',
      { class: `message ${standing}` },
      h(
        'header',
        {},
        h('span', { class: 'role' }, role),
        h('code', {}, id),
        h('span', { class: `badge ${standing}` }, standing === 'pinned' ? `pinned · ${category.get(id)}` : standing),
        h('span', { class: 'muted' }, `${count(tokens)} tokens`),
      ),
      h('p', {}, content),
    ),
  );
  const list = h('ol', { class: 'messages', tabindex: '0', 'aria-label': 'Messages' }, rows);
  return card(
    'Messages',
    h('span', { class: 'muted' }, count(messages.length)),
    rows.length > 0 ? list : empty('none'),
  );
}
