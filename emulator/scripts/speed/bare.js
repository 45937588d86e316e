/** A bare Hono server with the same responses, as a yardstick: no state, keys, limits or log. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';

const ANSWER = {
  id: 'chatcmpl_k3v9k3v9k3v9k3v9',
  object: 'chat.completion',
  created: 1_768_471_200,
  model: 'atlas-small',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'The tower is 300 metres tall.' }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 30, completion_tokens: 8, total_tokens: 38 },
};

const CHUNK = { id: ANSWER.id, object: 'chat.completion.chunk', created: ANSWER.created };
const WORDS = ['The', ' tower', ' is', ' ', '300', ' metres', ' tall', '.'];
const DELTAS = [{ role: 'assistant', content: '' }, ...WORDS.map((content) => ({ content })), {}];

const app = new Hono();
app.get('/v1/presets', (c) => c.json({ object: 'list', data: Array(5).fill(ANSWER.choices[0]) }));
app.post('/v1/chat/completions', async (c) => {
  const { model, stream } = await c.req.json();
  if (stream) {
    return streamSSE(c, async (events) => {
      for (const delta of DELTAS) {
        const choices = [{ index: 0, delta, finish_reason: null }];
        await events.writeSSE({ data: JSON.stringify({ ...CHUNK, model, choices }) });
      }
      await events.writeSSE({ data: JSON.stringify({ ...CHUNK, model, choices: [], usage: ANSWER.usage }) });
      await events.writeSSE({ data: '[DONE]' });
    });
  }
  return c.json({ ...ANSWER, model });
});

const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => {
  process.send?.({ port });
});
process.on('message', (message) => {
  if (message === 'usage') process.send?.({ cpu: process.cpuUsage(), rss: process.memoryUsage.rss() });
});
process.on('disconnect', () => server.close(() => process.exit()));
