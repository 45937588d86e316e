/** The contestants, with default options. Each imports what it needs when it is created. */

const messages = [
  { role: 'system', content: 'You answer in one paragraph.' },
  { role: 'user', content: 'Where does the Danube rise, and where does it end?' },
];
const apiKey = 'svc_sk_bench_0123456789';

/** What a contestant makes of an origin: `plain(model)` makes a call, `stream(model, onText)` reads a stream. */
export const CONTESTANTS = {
  'undici by hand': { packages: ['undici', 'eventsource-parser'], create: byHand },
  'context-gateway': {
    packages: ['context-gateway'],
    create: async (origin) => {
      const { GatewayClient } = await import('context-gateway');
      return callsOf(new GatewayClient({ baseURL: origin, apiKey }));
    },
  },
  openai: {
    packages: ['openai'],
    create: async (origin) => {
      const { OpenAI } = await import('openai');
      return callsOf(new OpenAI({ baseURL: `${origin}/v1`, apiKey }));
    },
  },
};

/** undici's `request`, an event parser and JSON.parse without validation. */
async function byHand(origin) {
  const { Agent, request } = await import('undici');
  const { createParser } = await import('eventsource-parser');
  const dispatcher = new Agent();
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', accept: 'application/json' };
  const post = async (params) => {
    const body = JSON.stringify({ messages, ...params });
    return (await request(`${origin}/v1/chat/completions`, { method: 'POST', headers, body, dispatcher })).body;
  };
  return {
    plain: async (model) => JSON.parse(await (await post({ model })).text()),
    async stream(model, onText) {
      const decoder = new TextDecoder();
      let isDone = false;
      const parser = createParser({
        onEvent: ({ data }) => {
          if (data === '[DONE]') isDone = true;
          else onText(JSON.parse(data).choices[0]?.delta?.content);
        },
      });
      for await (const bytes of await post({ model, stream: true }))
        parser.feed(decoder.decode(bytes, { stream: true }));
      if (!isDone) throw new Error('the stream was cut');
    },
  };
}

/** This package and openai have the same calls. */
function callsOf(client) {
  return {
    plain: (model) => client.chat.completions.create({ model, messages }),
    async stream(model, onText) {
      for await (const chunk of await client.chat.completions.create({ model, messages, stream: true }))
        onText(chunk.choices[0]?.delta.content);
    },
  };
}
