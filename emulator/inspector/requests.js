import { card, count, empty, h, timeOf } from './dom.js';

/** The last requests, newest first, as they come in. A row opens to its headers and body. */
export function requestsView(requests, { again, memory }) {
  const paused = memory.get('paused');
  const shown = paused ?? requests;
  const toggle = h(
    'button',
    {
      type: 'button',
      id: 'pause',
      role: 'switch',
      'aria-checked': String(paused === undefined),
      onclick: () => {
        if (paused === undefined) memory.set('paused', requests);
        else memory.delete('paused');
        again();
      },
    },
    'live',
  );
  const rows = [...shown].reverse().map((request) => row(request, memory));
  return h(
    'article',
    {},
    h('h2', {}, 'Requests'),
    card(
      'The last 200',
      toggle,
      rows.length > 0 ? h('div', { class: 'log' }, rows) : empty('Nothing has arrived yet.'),
    ),
  );
}

function row(request, memory) {
  const { requestId, method, path, status, duration, events, outcome, fault } = request;
  const open = memory.get(`open ${requestId}`) ?? false;
  const notes = [
    outcome !== 'answered' && outcome,
    fault && `fault: ${fault}`,
    events !== undefined && `${count(events)} events`,
    duration !== undefined && `${count(duration)} ms`,
  ].filter(Boolean);
  return h(
    'details',
    { open, ontoggle: (event) => memory.set(`open ${requestId}`, event.target.open) },
    h(
      'summary',
      { id: `request-${requestId}` },
      h('time', {}, timeOf(request.receivedAt)),
      h('span', { class: `status s${String(status ?? '').slice(0, 1)}` }, status === undefined ? '–' : String(status)),
      h('span', { class: 'method' }, method),
      h('code', {}, path),
      h('small', {}, notes.join(' · ')),
    ),
    h(
      'pre',
      {},
      Object.entries(request.headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join('\n'),
    ),
    request.body && h('pre', {}, pretty(request.body)),
    request.error && h('pre', { class: 'bad' }, request.error),
  );
}

function pretty(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
