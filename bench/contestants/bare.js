/** undici's `request`, with the bytes of the body neither decoded nor parsed. */
import { Agent, request } from 'undici';
import { EVENT_BYTES } from '../answers.js';
import { call } from './call.js';

export function create(origin) {
  const dispatcher = new Agent();
  return {
    async plain(model) {
      const { body } = await request(`${origin}/v1/chat/completions`, { ...call({ model }), dispatcher });
      return body.arrayBuffer();
    },
    async stream(model, onChunk) {
      const params = { model, stream: true };
      const { body } = await request(`${origin}/v1/chat/completions`, { ...call(params), dispatcher });
      for await (const bytes of body) onChunk(bytes);
    },
    async *read(model) {
      const params = { model, stream: true };
      const { body } = await request(`${origin}/v1/chat/completions`, { ...call(params), dispatcher });
      for await (const bytes of body) yield bytes.length / EVENT_BYTES;
    },
  };
}
