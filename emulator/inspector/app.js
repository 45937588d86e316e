import { ask } from './api.js';
import { conversationView } from './conversation.js';
import { count, empty, h, percent, timeOf } from './dom.js';
import { faultsView } from './faults.js';
import { keysView } from './keys.js';
import { memoryView, usageView } from './overview.js';
import { requestsView } from './requests.js';

const VIEWS = [
  { name: 'memory', title: 'Memory', load: () => ask('GET', '/overview'), show: memoryView },
  { name: 'usage', title: 'Usage and limits', load: loadUsage, show: usageView },
  { name: 'requests', title: 'Requests', load: () => ask('GET', '/requests?limit=200'), show: requestsView },
  { name: 'faults', title: 'Faults', load: () => ask('GET', '/faults'), show: faultsView },
  { name: 'keys', title: 'Plan and keys', load: loadKeys, show: keysView },
];
const EVERY = 1500;

async function loadUsage() {
  const [overview, account] = await Promise.all([ask('GET', '/overview'), ask('GET', '/account')]);
  // The time alone is no reason to draw anew.
  return { usage: overview.usage, buckets: overview.buckets, plan: account.plan };
}

async function loadKeys() {
  const [keys, account] = await Promise.all([ask('GET', '/keys'), ask('GET', '/account')]);
  return { keys, account };
}

/** The page: it asks again and again, and draws what has changed. */
class Page {
  #shown = '';
  #navShown = '';
  /** What the views remember between two drawings: open rows, chosen versions. Emptied when the view changes. */
  #memory = new Map();
  #route = '';

  start() {
    addEventListener('hashchange', () => this.refresh());
    addEventListener('keydown', (event) => this.#onKey(event));
    setInterval(() => document.hidden || this.refresh(), EVERY);
    return this.refresh();
  }

  async refresh() {
    try {
      const overview = await ask('GET', '/overview');
      document.querySelector('#clock').textContent = `${overview.plan.id} plan · ${timeOf(overview.time)} UTC`;
      this.#drawNav(overview);
      await this.#drawMain(overview);
      document.body.classList.remove('gone');
    } catch (error) {
      document.body.classList.add('gone');
      document.querySelector('#clock').textContent = `no answer: ${error.message}`;
    }
  }

  /** Digits go to the views, in the order they are listed. */
  #onKey(event) {
    if (event.target.matches('input, select, textarea') || event.ctrlKey || event.metaKey || event.altKey) return;
    const links = [...document.querySelectorAll('#nav a')];
    links[Number(event.key) - 1]?.click();
  }

  #drawNav({ conversations }) {
    const route = location.hash;
    const drawn = JSON.stringify([conversations, route]);
    if (drawn === this.#navShown) return;
    this.#navShown = drawn;
    const first = conversations[0] && `#/conversation/${encodeURIComponent(conversations[0].id)}`;
    const link = (href, ...inner) =>
      h('a', { href, id: `nav-${href}`, 'aria-current': (route || first) === href && 'page' }, ...inner);
    const items = conversations.map(({ id, messages, compressed, total, version }) =>
      link(
        `#/conversation/${encodeURIComponent(id)}`,
        h('span', { class: 'name' }, id),
        h(
          'small',
          {},
          `${count(messages)} messages · v${version}${total > 0 && version > 0 ? ` · ${percent(compressed / total)}` : ''}`,
        ),
      ),
    );
    this.#replace(document.querySelector('#nav'), [
      h('h2', {}, 'Conversations'),
      items.length === 0 ? empty('none yet') : items,
      h('h2', {}, 'Service'),
      VIEWS.map(({ name, title }) => link(`#/${name}`, h('span', { class: 'name' }, title))),
    ]);
  }

  async #drawMain({ conversations }) {
    const main = document.querySelector('#main');
    const [, name = '', id] = location.hash.split('/');
    if (this.#route !== location.hash) {
      this.#route = location.hash;
      this.#memory = new Map();
      this.#shown = '';
    }
    const view = VIEWS.find((candidate) => candidate.name === name);
    const conversation = name === 'conversation' ? decodeURIComponent(id) : conversations[0]?.id;
    if (view === undefined && conversation === undefined) return main.replaceChildren(welcome());
    const data = await (view ? view.load() : ask('GET', `/conversations/${encodeURIComponent(conversation)}/context`));
    const drawn = JSON.stringify([location.hash, data]);
    if (drawn === this.#shown) return;
    this.#shown = drawn;
    const again = () => {
      this.#shown = '';
      return this.refresh();
    };
    const show = view?.show ?? conversationView;
    this.#replace(main, [show(data, { again, memory: this.#memory })]);
  }

  /** New children in an element, with the focus and what was typed where they were. */
  #replace(element, children) {
    const focused = document.activeElement?.id;
    const typed = [...element.querySelectorAll('input')].map(({ id, value }) => [id, value]);
    element.replaceChildren(...children.flat());
    for (const [id, value] of typed) {
      const field = document.getElementById(id);
      if (field) field.value = value;
    }
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }
}

function welcome() {
  const example = `curl ${location.origin}/_emulator/conversations -H 'Content-Type: application/json' \\
  -d '{"messages":[{"role":"user","content":"We decided to write Parquet."}]}'`;
  return h(
    'article',
    {},
    h('h2', {}, 'No conversation yet'),
    h('p', {}, 'The control plane takes them in:'),
    h('pre', {}, example),
  );
}

new Page().start();
