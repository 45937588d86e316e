/** The calls that this package, openai and groq-sdk share. */
import { messages } from './call.js';

export function openaiShaped(client) {
  return {
    plain: (model) => client.chat.completions.create({ model, messages }),
    async stream(model, onChunk) {
      for await (const chunk of await client.chat.completions.create({ model, messages, stream: true }))
        onChunk(chunk.choices[0]?.delta.content);
    },
  };
}
