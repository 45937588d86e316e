/** undici's `request`, the status and the body checked with zod, as one would write it by hand. Plain calls only. */
import { Agent, request } from 'undici';
import { z } from 'zod';
import { call } from './call.js';

const completion = z.object({
  id: z.string(),
  object: z.string(),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.int(),
      message: z.object({ role: z.string(), content: z.string() }),
      finish_reason: z.string().nullable(),
    }),
  ),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
});

export function create(origin) {
  const dispatcher = new Agent();
  return {
    async plain(model) {
      const { statusCode, body } = await request(`${origin}/v1/chat/completions`, { ...call({ model }), dispatcher });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`${statusCode}: ${text}`);
      return completion.parse(JSON.parse(text));
    },
  };
}
