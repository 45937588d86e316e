/** The calls that this package, openai and groq-sdk share. */
import { messages } from './call.js';

export function openaiShaped(client) {
  const open = (model) => client.chat.completions.create({ model, messages, stream: true });
  return {
    plain: (model) => client.chat.completions.create({ model, messages }),
    async stream(model, onChunk) {
      for await (const chunk of await open(model)) onChunk(chunk.choices[0]?.delta.content);
    },
    async *read(model) {
      for await (const _ of await open(model)) yield 1;
    },
  };
}
