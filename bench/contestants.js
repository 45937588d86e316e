/** The same work by each contestant: a plain completion, and a streamed one read to its end. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import { GatewayClient } from 'context-gateway';
import { createParser } from 'eventsource-parser';
import Groq from 'groq-sdk';
import ky from 'ky';
import OpenAI from 'openai';
import Stripe from 'stripe';
import { Agent, request } from 'undici';

const params = { model: 'atlas-large', messages: [{ role: 'user', content: 'Hello' }] };
const key = 'svc_sk_bench_0123456789';
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json' };

/** undici's `request` and JSON.parse, nothing checked: what a careful person writes by hand. */
export function byHand(origin) {
  const dispatcher = new Agent();
  return {
    name: 'undici by hand',
    async plain(scenario) {
      const { body } = await request(`${origin}/${scenario}/v1/chat/completions`, {
        method: 'POST',
        headers,
        body: JSON.stringify(params),
        dispatcher,
      });
      return JSON.parse(await body.text());
    },
    async stream(scenario, onChunk) {
      const { body } = await request(`${origin}/${scenario}/v1/chat/completions`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ ...params, stream: true }),
        dispatcher,
      });
      const decoder = new TextDecoder();
      let done = false;
      const parser = createParser({
        onEvent: ({ data }) => {
          if (data === '[DONE]') done = true;
          else onChunk(JSON.parse(data).choices[0]?.delta?.content);
        },
      });
      for await (const chunk of body) parser.feed(decoder.decode(chunk, { stream: true }));
      if (!done) throw new Error('cut');
    },
  };
}

export function globalFetch(origin) {
  return {
    name: 'global fetch by hand',
    async plain(scenario) {
      const response = await fetch(`${origin}/${scenario}/v1/chat/completions`, {
        method: 'POST',
        headers,
        body: JSON.stringify(params),
      });
      return response.json();
    },
  };
}

function gateway(name, origin, options) {
  const clients = new Map();
  const clientOf = (scenario) => {
    let client = clients.get(scenario);
    if (client === undefined) {
      client = new GatewayClient({ baseURL: `${origin}/${scenario}`, apiKey: key, ...options });
      clients.set(scenario, client);
    }
    return client;
  };
  return {
    name,
    plain: (scenario) => clientOf(scenario).chat.completions.create(params),
    async stream(scenario, onChunk) {
      const stream = await clientOf(scenario).chat.completions.create({ ...params, stream: true });
      for await (const chunk of stream) onChunk(chunk.choices[0]?.delta.content);
    },
  };
}

export const ours = (origin) => gateway('context-gateway', origin, {});
export const oursWithFetch = (origin) => gateway('context-gateway, fetch', origin, { fetch: globalThis.fetch });

function openaiShaped(name, create) {
  const clients = new Map();
  const clientOf = (scenario) => {
    if (!clients.has(scenario)) clients.set(scenario, create(scenario));
    return clients.get(scenario);
  };
  return {
    name,
    plain: (scenario) => clientOf(scenario).chat.completions.create(params),
    async stream(scenario, onChunk) {
      const stream = await clientOf(scenario).chat.completions.create({ ...params, stream: true });
      for await (const chunk of stream) onChunk(chunk.choices[0]?.delta?.content);
    },
  };
}

export const openai = (origin) =>
  openaiShaped('openai', (scenario) => new OpenAI({ baseURL: `${origin}/${scenario}/v1`, apiKey: key }));
export const groq = (origin) =>
  openaiShaped(
    'groq-sdk',
    (scenario) =>
      new Groq({
        baseURL: `${origin}/${scenario}`,
        apiKey: key,
        fetch: (url, init) => fetch(String(url).replace('/openai/v1/', '/v1/'), init),
      }),
  );

export function stripe(origin) {
  const { hostname, port } = new URL(origin);
  const client = new Stripe('sk_test_bench', {
    host: hostname,
    port: Number(port),
    protocol: 'http',
    telemetry: false,
  });
  return { name: 'stripe', plain: (scenario) => client.rawRequest('POST', `/${scenario}/v1/chat/completions`, params) };
}

export function kyClient(origin) {
  return {
    name: 'ky',
    plain: (scenario) =>
      ky
        .post(`${origin}/${scenario}/v1/chat/completions`, {
          json: params,
          headers: { authorization: `Bearer ${key}` },
        })
        .json(),
  };
}

export function aiSdk(origin) {
  const modelOf = (scenario) =>
    createOpenAICompatible({ name: 'bench', baseURL: `${origin}/${scenario}/v1`, apiKey: key })('atlas-large');
  return {
    name: 'AI SDK',
    plain: (scenario) => generateText({ model: modelOf(scenario), prompt: 'Hello' }),
    async stream(scenario, onChunk) {
      for await (const text of streamText({ model: modelOf(scenario), prompt: 'Hello' }).textStream) onChunk(text);
    },
  };
}
