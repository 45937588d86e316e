/** undici's `request`, an event parser and JSON.parse without validation, as one would write it by hand. */
import { createParser } from 'eventsource-parser';
import { Agent, request } from 'undici';
import { call } from './call.js';

export function create(origin) {
  const dispatcher = new Agent();
  const post = async (params) => {
    const { body } = await request(`${origin}/v1/chat/completions`, { ...call(params), dispatcher });
    return body;
  };
  return {
    async plain(model) {
      return JSON.parse(await (await post({ model })).text());
    },
    async stream(model, onChunk) {
      const decoder = new TextDecoder();
      let done = false;
      const parser = createParser({
        onEvent: ({ data }) => {
          if (data === '[DONE]') done = true;
          else onChunk(JSON.parse(data).choices[0]?.delta?.content);
        },
      });
      for await (const bytes of await post({ model, stream: true }))
        parser.feed(decoder.decode(bytes, { stream: true }));
      if (!done) throw new Error('cut');
    },
  };
}
