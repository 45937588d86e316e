/** The page of the support chat. It calls only its own server, and has no key. */
import type { ErrorData } from 'context-gateway';
import { type ConversationMessage, readTurn, sources, type TurnEvent, textOf } from 'context-gateway/conversation';

const find = <T extends HTMLElement>(selector: string): T => document.querySelector(selector) as T;
const list = find('ol');
const form = find<HTMLFormElement>('form');
const input = find<HTMLTextAreaElement>('textarea');
const gauge = find('.window');
const url = `/chat/${encodeURIComponent(new URLSearchParams(location.search).get('id') ?? 'first')}`;
/** The message that the next text replaces. */
let editing: HTMLElement | undefined;
/** Of the earlier messages that a reply was given, so many are shown. */
const CITED = 3;
/** The reply that is being written. */
let writing: HTMLElement | undefined;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (writing !== undefined) return void fetch(`${url}/stop`, { method: 'POST' }).catch(() => {}); // without a connection
  const text = input.value.trim();
  if (text === '') return;
  input.value = '';
  const edited = editing;
  const newest = newestShown();
  editing = undefined;
  if (edited !== undefined) removeFrom(edited);
  const messageId = edited?.dataset.id;
  const id = messageId ?? crypto.randomUUID(); // so that the server knows it again, if it is sent once more
  show({ id, role: 'user', content: text });
  void (messageId === undefined ? reply('', { id, text }) : reply('/edit', { text, messageId, newest }));
});
input.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  if (writing === undefined) form.requestSubmit();
});
void begin();

/** What is written before the list has come would not be in it. */
async function begin(): Promise<void> {
  await load().catch(() => new Promise((resolve) => setTimeout(resolve, 1_000)).then(begin));
}

/** Shows what the server has, and the reply that is being written, from its start. */
async function load(): Promise<void> {
  const { messages, isRunning } = await (await fetch(url)).json();
  list.replaceChildren();
  for (const message of messages) show(message, messages);
  input.disabled = false;
  if (!isRunning) return setWriting(undefined);
  const response = await fetch(`${url}/reply`);
  if (response.status === 204) return load(); // the reply has ended meanwhile
  await read(response);
}

async function reply(action: string, body: object): Promise<void> {
  const request = fetch(url + action, { method: 'POST', body: JSON.stringify(body) });
  await read(request, () => void reply(action, body));
}

async function read(request: Response | Promise<Response>, again?: () => void): Promise<void> {
  const question = list.lastElementChild as HTMLElement;
  const item = show({ role: 'assistant', content: '' });
  setWriting(item);
  let isStored = false;
  const fail = ({ code, message, retryAfter }: ErrorData): void =>
    showError(item, message, retryAfter, () => {
      item.remove();
      if (isStored) void reply('/regenerate', {});
      else if (again && code !== 'conversation_conflict') again();
      else void loadWithout(question);
    });
  try {
    for await (const event of readTurn(await request)) {
      isStored ||= event.type === 'turn';
      if (event.type !== 'error') take(event, item, question);
      else if (event.error.code !== 'aborted') fail(event.error);
      else if (isStored) note(item, 'Stopped');
      else await loadWithout(question); // stopped before the first word
    }
  } catch {
    note(item, 'The connection broke. Connecting…');
    await reconnect(question);
  }
  if (writing === item) setWriting(undefined);
}

function take(event: Exclude<TurnEvent, { type: 'error' }>, item: HTMLElement, question: HTMLElement): void {
  if (event.type === 'text') following(() => item.querySelector('p')?.append(event.text));
  if (event.type === 'recalled') cite(item, sources(event, CITED));
  if (event.type === 'receipt') showReceipt(event.receipt);
  if (event.type !== 'turn') return;
  const { messages, report } = event.turn;
  const share = report.tokens.total / report.budget;
  gauge.hidden = false;
  find('.window span').textContent =
    `${report.tokens.total.toLocaleString()} of ${report.budget.toLocaleString()} tokens`;
  find<HTMLMeterElement>('meter').value = share;
  identify(item, messages.at(-1)?.id);
  if (messages.length > 1) identify(question, messages.at(-2)?.id);
  setWriting(undefined); // a compaction may follow
}

/** The reply goes on, on the server. */
async function reconnect(question: HTMLElement): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await loadWithout(question).catch(() => reconnect(question));
}

/** Loads the messages. A question that the server does not have goes back to where it was written. */
async function loadWithout(question: HTMLElement): Promise<void> {
  const text = shownIn(question);
  await load();
  if (shownIn([...list.querySelectorAll<HTMLElement>('li.user')].at(-1)) !== text) input.value ||= text;
}

/** Shows a message. One that is stored cites others of the list. */
function show(message: ConversationMessage, all: readonly ConversationMessage[] = []): HTMLElement {
  const { id, role, stopped } = message;
  const item = document.createElement('li');
  item.className = role;
  item.innerHTML = '<p></p><div class="tools"></div>';
  (item.firstElementChild as HTMLElement).textContent = textOf(message);
  if (stopped) note(item, 'Stopped');
  identify(item, id);
  const tools = item.querySelector('.tools');
  if (role === 'user') tools?.append(button('Edit', () => startEdit(item)));
  else tools?.append(button('Regenerate', () => regenerate(item)));
  const cited = sources(message, CITED).map(({ id, text = '' }) => {
    const found = all.find((one) => one.id === id);
    return { id, text: found ? textOf(found) : text, role: found?.role ?? 'summary', createdAt: found?.createdAt };
  });
  cite(item, cited);
  following(() => list.append(item));
  return item;
}

function startEdit(item: HTMLElement): void {
  editing = item;
  input.value = shownIn(item);
  input.focus();
}

/** Asks again for the last reply, or for an earlier one, as an edit that changes nothing. */
function regenerate(item: HTMLElement): void {
  const question = item.previousElementSibling as HTMLElement;
  const isLast = [...list.querySelectorAll('li.user')].at(-1) === question;
  const text = shownIn(question);
  const newest = newestShown();
  removeFrom(item);
  void (isLast ? reply('/regenerate', { newest }) : reply('/edit', { messageId: question.dataset.id, text, newest }));
}

/** So that the server removes nothing that another tab has stored, and this one does not show. */
const newestShown = (): string | undefined => [...list.querySelectorAll<HTMLElement>('[data-id]')].at(-1)?.dataset.id;

/** Shows the earlier messages that a reply was given. A link leads to the message. */
function cite(
  item: HTMLElement,
  cited: Pick<ConversationMessage, 'id' | 'role' | 'createdAt'>[] & { text: string }[],
): void {
  if (cited.length === 0) return;
  const details = document.createElement('details');
  details.innerHTML = `<summary>${cited.length === 1 ? '1 source' : `${cited.length} sources`}</summary><ul></ul>`;
  for (const { id, role, createdAt, text } of cited) {
    const link = document.createElement('a');
    const date = createdAt === undefined ? '' : new Date(createdAt).toLocaleDateString();
    link.textContent = [date, role, text.slice(0, 120)].filter(Boolean).join(' · ');
    if (id !== undefined) link.href = `#${encodeURIComponent(id)}`;
    const entry = document.createElement('li');
    entry.append(link);
    details.querySelector('ul')?.append(entry);
  }
  item.append(details);
}

function showReceipt({ tokens, diff, onlyInHistory }: (TurnEvent & { type: 'receipt' })['receipt']): void {
  const item = document.createElement('li');
  item.className = 'receipt';
  const counts = `${onlyInHistory} messages only in the history, ${diff.lost.length} statements lost`;
  item.textContent = `Compacted: ${tokens.before} → ${tokens.after} tokens, ${counts}`;
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

function setWriting(item: HTMLElement | undefined): void {
  writing?.classList.remove('writing');
  item?.classList.add('writing');
  writing = item;
  find('form button').textContent = item ? 'Stop' : 'Send';
  list.setAttribute('aria-busy', String(item !== undefined));
  if (item === undefined) input.focus();
}

const shownIn = (item: HTMLElement | undefined): string => item?.querySelector('p')?.textContent ?? '';
