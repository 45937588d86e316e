/** The chat that both pages show: a list of messages, a composer, a stop button, error banners and a rate-limit badge. */
import {
  APIConnectionError,
  type ChatCompletionStream,
  ContextGatewayError,
  RateLimitError,
  StreamTruncatedError,
} from 'context-gateway';

export interface Message {
  role: 'user' | 'assistant';
  content: string;
}

export interface Limit {
  limit: number | undefined;
  remaining: number | undefined;
}

/** Sends the conversation and returns the reply as it is written, and what is left of the rate limit where it is known. */
export type Ask = (
  messages: Message[],
  signal: AbortSignal,
) => Promise<{ stream: ChatCompletionStream; limit?: Limit }>;

/** Messages that are sent along. A page of its own would count tokens; the service keeps longer conversations. */
const SENT = 20;

export function mountChat(root: HTMLElement, ask: Ask): void {
  const part = <T extends HTMLElement>(selector: string): T => root.querySelector(selector) as T;
  const list = part<HTMLOListElement>('ol');
  const form = part<HTMLFormElement>('form');
  const input = part<HTMLTextAreaElement>('textarea');
  const button = part<HTMLButtonElement>('form button');
  const badge = part('.badge');
  const messages: Message[] = [];
  let running: AbortController | undefined;

  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (running !== undefined) return running.abort();
    const content = input.value.trim();
    if (content === '') return;
    input.value = '';
    messages.push({ role: 'user', content });
    show('user', content);
    void reply();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (running === undefined) form.requestSubmit();
  });

  async function reply(): Promise<void> {
    const item = show('assistant', '');
    const text = item.querySelector('p') as HTMLElement;
    running = new AbortController();
    const { signal } = running;
    setBusy(true);
    item.classList.add('writing');
    try {
      const { stream, limit } = await ask(messages.slice(-SENT), signal);
      if (limit !== undefined) showLimit(limit);
      for await (const piece of stream.textStream) following(() => text.append(piece));
    } catch (error) {
      if (signal.aborted) note(item, 'Stopped');
      else showError(item, error);
    } finally {
      item.classList.remove('writing');
      // What was written stays in the conversation, also where it was stopped or cut.
      if (text.textContent) messages.push({ role: 'assistant', content: text.textContent });
      running = undefined;
      setBusy(false);
    }
  }

  function show(role: Message['role'], content: string): HTMLElement {
    const item = document.createElement('li');
    item.className = role;
    const text = document.createElement('p');
    text.textContent = content;
    item.append(text);
    list.append(item);
    list.scrollTop = list.scrollHeight;
    return item;
  }

  function showError(item: HTMLElement, error: unknown): void {
    const banner = document.createElement('div');
    banner.className = 'banner';
    banner.setAttribute('role', 'alert');
    const words = document.createElement('span');
    words.textContent = explain(error);
    const again = document.createElement('button');
    again.type = 'button';
    again.textContent = 'Try again';
    again.addEventListener('click', () => {
      if (running !== undefined) return;
      if (messages.at(-1)?.role === 'assistant') messages.pop(); // the piece of a reply that was cut
      item.remove();
      void reply();
    });
    banner.append(words, again);
    following(() => item.append(banner));
    if (error instanceof RateLimitError && error.retryAfter !== undefined) countDown(again, error.retryAfter);
  }

  /** The button works when the service would serve the request. */
  function countDown(again: HTMLButtonElement, ms: number): void {
    const until = performance.now() + ms;
    const tick = (): void => {
      const seconds = Math.ceil((until - performance.now()) / 1_000);
      again.disabled = seconds > 0;
      again.textContent = seconds > 0 ? `Try again in ${seconds} s` : 'Try again';
      if (seconds > 0 && again.isConnected) setTimeout(tick, 250);
    };
    tick();
  }

  function note(item: HTMLElement, words: string): void {
    const line = document.createElement('small');
    line.textContent = words;
    following(() => item.append(line));
  }

  /** Changes the list, and keeps its end in view if that is where the reader is. */
  function following(change: () => void): void {
    const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
    change();
    if (isAtEnd) list.scrollTop = list.scrollHeight;
  }

  function showLimit({ limit, remaining }: Limit): void {
    if (limit === undefined || remaining === undefined) return;
    badge.hidden = false;
    badge.textContent = `${remaining.toLocaleString()} of ${limit.toLocaleString()} requests left`;
    badge.classList.toggle('low', remaining < limit / 10);
  }

  function setBusy(isBusy: boolean): void {
    button.textContent = isBusy ? 'Stop' : 'Send';
    list.setAttribute('aria-busy', String(isBusy));
    if (!isBusy) input.focus();
  }
}

/** The words for a person; `error.message` has those for a developer. */
function explain(error: unknown): string {
  if (error instanceof RateLimitError) return 'Too many requests at the moment.';
  if (error instanceof StreamTruncatedError) return 'The reply was cut off.';
  if (error instanceof APIConnectionError) return 'No connection to the service.';
  if (error instanceof ContextGatewayError) return error.message;
  return 'Something went wrong.';
}
