/** The page: it knows its own server only, and no key. */
import { ContextGatewayError, readChatCompletionStream } from 'context-gateway';

const form = document.querySelector('form') as HTMLFormElement;
const output = document.querySelector('output') as HTMLOutputElement;
const stop = form.elements.namedItem('stop') as HTMLButtonElement;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const controller = new AbortController();
  const { signal } = controller;
  stop.onclick = () => controller.abort();
  stop.disabled = false;
  output.textContent = '';
  try {
    const body = JSON.stringify({ question: new FormData(form).get('question') });
    const stream = await readChatCompletionStream(await fetch('/ask', { method: 'POST', body, signal }), { signal });
    for await (const text of stream.textStream) output.textContent += text;
  } catch (error) {
    if (signal.aborted) output.textContent += ' (stopped)';
    else if (error instanceof ContextGatewayError) output.textContent += `\n${error.message}`;
    else throw error;
  } finally {
    stop.disabled = true;
  }
});
