import { bar, card, count, empty, h } from './dom.js';

/** User memory, by type. */
export function memoryView({ memory }) {
  const types = ['preference', 'fact', 'constraint', 'definition'];
  const groups = types.map((type) => {
    const items = memory.filter((item) => item.type === type);
    const rows = items.map(({ id, key, content, isActive, workspaceId }) =>
      h(
        'li',
        { class: isActive ? '' : 'inactive' },
        h('strong', {}, key),
        h('span', {}, content),
        h(
          'small',
          {},
          [id, workspaceId && `workspace ${workspaceId}`, isActive ? '' : 'inactive'].filter(Boolean).join(' · '),
        ),
      ),
    );
    return card(
      `${type[0].toUpperCase()}${type.slice(1)}s`,
      h('span', { class: 'muted' }, count(items.length)),
      rows.length > 0 ? h('ul', { class: 'items' }, rows) : empty('none'),
    );
  });
  return h('article', {}, h('h2', {}, 'Memory'), h('div', { class: 'columns' }, groups));
}

/** What was used, by model, and how the rate limits stand. */
export function usageView({ usage, buckets, plan }) {
  const models = Object.entries(usage.breakdown_by_model).sort(([, a], [, b]) => b - a);
  const most = Math.max(1, ...models.map(([, tokens]) => tokens));
  const chart = models.map(([model, tokens]) =>
    h(
      'li',
      {},
      h('span', { class: 'label' }, model),
      bar([{ kind: 'recent', value: tokens }], most, `${model}: ${count(tokens)} tokens`),
      h('span', { class: 'value' }, count(tokens)),
    ),
  );
  const figure = (value, label) => h('div', { class: 'figure' }, h('strong', {}, value), h('span', {}, label));
  const limits = buckets.map(({ name, limit, remaining, resetAt }) =>
    h(
      'li',
      {},
      h('span', { class: 'label' }, name),
      bar(
        [{ kind: remaining === 0 ? 'bad' : 'summary', value: limit - remaining }],
        limit,
        `${name}: ${count(limit - remaining)} of ${count(limit)} used`,
      ),
      h(
        'span',
        { class: 'value' },
        `${count(remaining)} of ${count(limit)} left, until ${new Date(resetAt).toISOString().slice(11, 19)}`,
      ),
    ),
  );
  return h(
    'article',
    {},
    h(
      'header',
      { class: 'title' },
      h(
        'div',
        {},
        h('h2', {}, 'Usage and limits'),
        h(
          'p',
          { class: 'muted' },
          `${usage.period.start} to ${usage.period.end} · ${plan.id} plan, ${count(plan.pricePerMonth)} USD a month`,
        ),
      ),
    ),
    card(
      'Tokens by model',
      undefined,
      h(
        'div',
        { class: 'figures' },
        figure(count(usage.tokens_used), 'used'),
        figure(count(usage.tokens_remaining), `remaining of ${count(usage.tokens_included)}`),
        figure(count(usage.overage_tokens), 'over'),
        figure(`${usage.estimated_overage_cost.toFixed(2)} USD`, 'estimated for it'),
      ),
      chart.length > 0 ? h('ul', { class: 'chart' }, chart) : empty('nothing used in this period'),
    ),
    card(
      'Rate limits',
      h('span', { class: 'muted' }, 'windows in use'),
      limits.length > 0 ? h('ul', { class: 'chart' }, limits) : empty('no request yet'),
    ),
  );
}
