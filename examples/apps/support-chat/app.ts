/** The page of the support chat. It knows its own server only, and no key. */
import { type ErrorData, toErrorData } from 'context-gateway';
import { type ConversationMessage, readTurn, type TurnEvent } from 'context-gateway/conversation';

const find = <T extends HTMLElement>(selector: string): T => document.querySelector(selector) as T;
const list = find('ol');
const form = find<HTMLFormElement>('form');
const input = find<HTMLTextAreaElement>('textarea');
const gauge = find('.window');
const url = `/chat/${encodeURIComponent(new URLSearchParams(location.search).get('id') ?? 'first')}`;
/** The message that the next text replaces. */
let editing: HTMLElement | undefined;
let running: AbortController | undefined;
/** The id of the newest message that is stored. */
let newest: string | undefined;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (running !== undefined) return running.abort();
  const text = input.value.trim();
  if (text === '') return;
  input.value = '';
  const edited = editing;
  editing = undefined;
  if (edited !== undefined) removeFrom(edited);
  const messageId = edited?.dataset.id;
  show({ role: 'user', content: text });
  void reply(messageId === undefined ? '' : '/edit', { text, messageId });
});
input.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (running === undefined) form.requestSubmit();
});
void load();

async function load(): Promise<void> {
  const messages: ConversationMessage[] = await (await fetch(url)).json();
  list.replaceChildren();
  for (const message of messages) show(message);
  newest = messages.at(-1)?.id;
}

async function reply(action: string, body: object): Promise<void> {
  const question = list.lastElementChild as HTMLElement;
  const item = show({ role: 'assistant', content: '' });
  running = new AbortController();
  const { signal } = running;
  setBusy(true);
  let isStored = false;
  const fail = ({ message, retryAfter }: ErrorData): void =>
    showError(item, message, retryAfter, () => {
      item.remove();
      void (isStored ? reply('/regenerate', {}) : reply(action, body));
    });
  try {
    const response = await fetch(url + action, { method: 'POST', body: JSON.stringify(body), signal });
    for await (const event of readTurn(response)) {
      isStored ||= event.type === 'turn';
      if (event.type === 'error') fail(event.error);
      else take(event, item, question);
    }
  } catch (error) {
    if (signal.aborted) await loadStopped();
    else fail(toErrorData(error));
  }
  if (running?.signal === signal) setBusy(false);
}

function take(event: Exclude<TurnEvent, { type: 'error' }>, item: HTMLElement, question: HTMLElement): void {
  if (event.type === 'text') following(() => item.querySelector('p')?.append(event.text));
  if (event.type === 'recalled') item.append(citations(event.recalled));
  if (event.type === 'receipt') showReceipt(event.receipt);
  if (event.type !== 'turn') return;
  const { messages, report } = event.turn;
  const share = report.tokens.total / report.budget;
  gauge.hidden = false;
  find('.window span').textContent =
    `${report.tokens.total.toLocaleString()} of ${report.budget.toLocaleString()} tokens`;
  find<HTMLMeterElement>('meter').value = share;
  newest = messages.at(-1)?.id;
  identify(item, newest);
  if (messages.length > 1) identify(question, messages.at(-2)?.id);
  setBusy(false); // a compaction may follow
}

/** After a stop, the server stores what was written. */
async function loadStopped(): Promise<void> {
  const before = newest;
  for (let tries = 0; tries < 20 && newest === before; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    await load();
  }
}

function show({ id, role, content, stopped }: ConversationMessage): HTMLElement {
  const item = document.createElement('li');
  item.className = role;
  item.innerHTML = '<p></p><div class="tools"></div>';
  (item.firstElementChild as HTMLElement).textContent = content;
  if (stopped) note(item, 'Stopped');
  identify(item, id);
  const tools = item.querySelector('.tools');
  if (role === 'user') tools?.append(button('Edit', () => startEdit(item)));
  else tools?.append(button('Regenerate', () => regenerate(item)));
  following(() => list.append(item));
  return item;
}

function startEdit(item: HTMLElement): void {
  editing = item;
  input.value = item.querySelector('p')?.textContent ?? '';
  input.focus();
}

/** Asks again for the last reply, or for an earlier one, as an edit that changes nothing. */
function regenerate(item: HTMLElement): void {
  const question = item.previousElementSibling as HTMLElement;
  const isLast = [...list.querySelectorAll('li.user')].at(-1) === question;
  const text = question.querySelector('p')?.textContent ?? '';
  removeFrom(item);
  void (isLast ? reply('/regenerate', {}) : reply('/edit', { messageId: question.dataset.id, text }));
}

/** Earlier messages that the prompt repeated. A link opens the message. */
function citations(recalled: (TurnEvent & { type: 'recalled' })['recalled']): HTMLElement {
  const details = document.createElement('details');
  details.innerHTML = `<summary>${recalled.length} earlier messages</summary><ul></ul>`;
  for (const { id, role, createdAt, text } of recalled) {
    const link = document.createElement('a');
    const date = createdAt === undefined ? '' : new Date(createdAt).toLocaleDateString();
    link.textContent = [date, role, text.slice(0, 120)].filter(Boolean).join(' · ');
    if (id !== undefined) link.href = `#${encodeURIComponent(id)}`;
    const entry = document.createElement('li');
    entry.append(link);
    details.querySelector('ul')?.append(entry);
  }
  return details;
}

function showReceipt({ tokens, diff }: (TurnEvent & { type: 'receipt' })['receipt']): void {
  const item = document.createElement('li');
  item.className = 'receipt';
  item.textContent = `Compacted: ${tokens.before} → ${tokens.after} tokens, ${diff.lost.length} statements lost`;
  const lost = document.createElement('ul');
  for (const { text } of diff.lost) lost.append(Object.assign(document.createElement('li'), { textContent: text }));
  if (diff.lost.length > 0) item.append(lost);
  following(() => list.append(item));
}

function showError(item: HTMLElement, message: string, retryAfter = 0, retry: () => void): void {
  const banner = document.createElement('div');
  banner.className = 'banner';
  banner.setAttribute('role', 'alert');
  const again = button('Try again', retry);
  banner.append(message, again);
  following(() => item.append(banner));
  const until = performance.now() + retryAfter;
  const tick = (): void => {
    const seconds = Math.ceil((until - performance.now()) / 1_000);
    again.disabled = seconds > 0;
    again.textContent = seconds > 0 ? `Try again in ${seconds} s` : 'Try again';
    if (seconds > 0 && again.isConnected) setTimeout(tick, 250);
  };
  tick();
}

function identify(item: HTMLElement, id: string | undefined): void {
  if (id === undefined) return;
  item.id = id;
  item.dataset.id = id;
}

function note(item: HTMLElement, words: string): void {
  item.append(Object.assign(document.createElement('small'), { textContent: words }));
}

function button(label: string, act: () => void): HTMLButtonElement {
  const one = Object.assign(document.createElement('button'), { type: 'button', textContent: label });
  one.addEventListener('click', act);
  return one;
}

function removeFrom(item: HTMLElement): void {
  while (item.nextElementSibling !== null) item.nextElementSibling.remove();
  item.remove();
}

/** Changes the list, and keeps its end in view if that is where the reader is. */
function following(change: () => void): void {
  const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  change();
  if (isAtEnd) list.scrollTop = list.scrollHeight;
}

function setBusy(isBusy: boolean): void {
  if (!isBusy) running = undefined;
  find('form button').textContent = isBusy ? 'Stop' : 'Send';
  list.setAttribute('aria-busy', String(isBusy));
  if (!isBusy) input.focus();
}
