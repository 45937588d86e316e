import { ask } from './api.js';
import { card, empty, h } from './dom.js';

/** As good as always: a rule that stays until it is switched off. */
const ALWAYS = 1_000_000_000;

const SWITCHES = [
  [
    'Gateway busy',
    'every /v1 call is a 429 with a wait of 5 s',
    { match: { path: '/v1/*' }, respond: { status: 429, retryAfter: 5 } },
  ],
  ['Gateway down', 'every /v1 call is a 503', { match: { path: '/v1/*' }, respond: { status: 503 } }],
  ['Context API fails', 'every /api call is a 500', { match: { path: '/api/*' }, respond: { status: 500 } }],
  ['One in four fails', 'a 503 by chance, from the seed', { match: { probability: 0.25 }, respond: { status: 503 } }],
  ['Slow', 'every answer two seconds later', { respond: { type: 'slow', delay: 2000 } }],
  ['Connections break', 'before the work is done', { respond: { type: 'reset' } }],
  ['Answers get lost', 'the work is done, the connection breaks', { respond: { type: 'reset', when: 'after' } }],
  [
    'Streams end early',
    'after three events, without [DONE]',
    { match: { path: '/v1/chat/completions' }, respond: { type: 'cutStream', afterEvents: 3 } },
  ],
  [
    'Streams fall silent',
    'after three events',
    { match: { path: '/v1/chat/completions' }, respond: { type: 'cutStream', afterEvents: 3, how: 'stall' } },
  ],
  [
    'Errors inside streams',
    'after three events',
    { match: { path: '/v1/chat/completions' }, respond: { type: 'streamError', afterEvents: 3 } },
  ],
  ['Broken JSON', 'half of every body', { respond: { type: 'malformed' } }],
  ['Dripping', 'ten bytes every 50 ms', { respond: { type: 'drip', bytes: 10, every: 50 } }],
];

/** Switches for what goes wrong, a form for a rule of one's own, and the rules in force. */
export function faultsView(rules, { again }) {
  const act = (work) => async () => {
    await work();
    await again();
  };
  const switches = SWITCHES.map(([name, note, rule]) => {
    const active = rules.find(
      ({ match, respond, remaining }) => remaining > ALWAYS / 2 && same({ match, respond }, rule),
    );
    const flip = act(() =>
      active ? ask('DELETE', `/faults/${active.id}`) : ask('POST', '/faults', { ...rule, times: ALWAYS }),
    );
    return h(
      'li',
      {},
      h(
        'button',
        {
          type: 'button',
          id: `fault-${name}`,
          role: 'switch',
          'aria-checked': String(active !== undefined),
          onclick: flip,
        },
        name,
      ),
      h('small', {}, note),
    );
  });
  const active = rules.map(({ id, match, remaining, respond }) =>
    h(
      'li',
      {},
      h('code', {}, JSON.stringify(respond)),
      h(
        'span',
        { class: 'muted' },
        `${JSON.stringify(match)} · ${remaining > ALWAYS / 2 ? 'until switched off' : `${remaining} more`}`,
      ),
      h(
        'button',
        { type: 'button', class: 'quiet', id: `remove-${id}`, onclick: act(() => ask('DELETE', `/faults/${id}`)) },
        'remove',
      ),
    ),
  );
  const clear = h(
    'button',
    { type: 'button', class: 'quiet', id: 'clear', onclick: act(() => ask('DELETE', '/faults')) },
    'remove all',
  );
  return h(
    'article',
    {},
    h('h2', {}, 'Faults'),
    card('What goes wrong', undefined, h('ul', { class: 'switches' }, switches)),
    card('One request only', undefined, oneShot(act)),
    card(
      'Rules in force',
      rules.length > 0 && clear,
      active.length > 0 ? h('ul', { class: 'rules' }, active) : empty('none: everything answers as it should'),
    ),
  );
}

function oneShot(act) {
  const path = h('input', { id: 'one-path', value: '/v1/*', spellcheck: 'false' });
  const status = h('input', { id: 'one-status', type: 'number', min: '400', max: '599', value: '503' });
  const nth = h('input', { id: 'one-nth', type: 'number', min: '1', value: '1' });
  const add = act(() =>
    ask('POST', '/faults', {
      match: { path: path.value, nth: Number(nth.value) },
      respond: { status: Number(status.value) },
    }),
  );
  return h(
    'form',
    {
      class: 'row',
      onsubmit: (event) => {
        event.preventDefault();
        add();
      },
    },
    h('label', {}, 'status ', status),
    h('label', {}, 'path ', path),
    h('label', {}, 'at match ', nth),
    h('button', { type: 'submit', id: 'one-add' }, 'add'),
  );
}

function same(active, { match = {}, respond }) {
  return JSON.stringify([active.match, active.respond]) === JSON.stringify([match, respond]);
}
