import { ask } from './api.js';
import { card, count, h } from './dom.js';

/** The plan and the keys: created, shown once, told apart by prefix, deleted. */
export function keysView({ keys, account }, { again, memory }) {
  const created = memory.get('created');
  return h(
    'article',
    {},
    h('h2', {}, 'Plan and keys'),
    card('Plan', undefined, planForm(account, again)),
    created && newKey(created),
    card(
      'API keys',
      h('span', { class: 'muted' }, count(keys.length)),
      keyTable(keys, { again, memory }),
      keyForm({ again, memory }),
    ),
  );
}

function planForm({ plan, plans }, again) {
  const choose = async (event) => {
    await ask('PUT', '/account', { plan: event.target.value });
    await again();
  };
  const facts = plan.gatewayAccess
    ? `${count(plan.limits.gateway)} Gateway requests a minute, ${count(plan.includedTokens)} tokens a month, ${count(plan.pricePerMonth)} USD`
    : 'no Gateway access: every /v1 call is a 403';
  const names = plans.map(({ id }) => id);
  const options = (names.includes(plan.id) ? names : [plan.id, ...names]).map((id) =>
    h('option', { value: id, selected: id === plan.id }, id),
  );
  return h(
    'p',
    { class: 'row' },
    h('label', {}, 'plan ', h('select', { id: 'plan', onchange: choose }, options)),
    h('span', { class: 'muted' }, facts),
  );
}

function newKey({ key, name }) {
  return h(
    'section',
    { class: 'card notice', role: 'status' },
    h('h3', {}, `${name}: copy it now, it is shown only this once`),
    h(
      'p',
      { class: 'row' },
      h('code', { id: 'new-key' }, key),
      h('button', { type: 'button', id: 'copy', onclick: () => navigator.clipboard?.writeText(key) }, 'copy'),
    ),
  );
}

function keyTable(keys, { again, memory }) {
  const rows = keys.map(({ id, kind, name, prefix, createdAt, expiresAt }) => {
    const sure = memory.get('delete') === id;
    const remove = async () => {
      memory.set('delete', sure ? undefined : id);
      if (sure) await ask('DELETE', `/keys/${id}`);
      await again();
    };
    return h(
      'tr',
      {},
      h('td', {}, h('code', {}, `${prefix}…`)),
      h('td', {}, name),
      h('td', {}, kind),
      h('td', {}, createdAt.slice(0, 10)),
      h('td', {}, expiresAt === null ? 'never' : expiresAt.slice(0, 16).replace('T', ' ')),
      h(
        'td',
        {},
        h(
          'button',
          { type: 'button', class: sure ? 'danger' : 'quiet', id: `delete-${id}`, onclick: remove },
          sure ? 'really delete' : 'delete',
        ),
      ),
    );
  });
  const heads = ['prefix', 'name', 'kind', 'created', 'expires', ''].map((text) => h('th', { scope: 'col' }, text));
  return h('div', { class: 'scroll' }, h('table', {}, h('thead', {}, h('tr', {}, heads)), h('tbody', {}, rows)));
}

function keyForm({ again, memory }) {
  const name = h('input', { id: 'key-name', placeholder: 'production', required: true });
  const kind = h('select', { id: 'key-kind' }, h('option', {}, 'secret'), h('option', {}, 'publishable'));
  const days = h('input', { id: 'key-days', type: 'number', min: '1', placeholder: 'never' });
  const create = async (event) => {
    event.preventDefault();
    const expiresAt =
      days.value === '' ? undefined : new Date(Date.now() + Number(days.value) * 86_400_000).toISOString();
    memory.set('created', await ask('POST', '/keys', { kind: kind.value, name: name.value, expiresAt }));
    name.value = '';
    days.value = '';
    await again();
  };
  return h(
    'form',
    { class: 'row', onsubmit: create },
    h('label', {}, 'name ', name),
    h('label', {}, 'kind ', kind),
    h('label', {}, 'expires after days ', days),
    h('button', { type: 'submit', id: 'key-create' }, 'create a key'),
  );
}
