/** The AI SDK with its provider for services of the OpenAI form, with the options they have by default. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import { key, messages } from './call.js';

/** Its own place for the first message: it warns at every call that finds it among the others. */
const [{ content: system }, ...others] = messages;

export function create(origin) {
  const provider = createOpenAICompatible({ name: 'bench', baseURL: `${origin}/v1`, apiKey: key });
  return {
    plain: (model) => generateText({ model: provider(model), system, messages: others }),
    async stream(model, onChunk) {
      for await (const text of streamText({ model: provider(model), system, messages: others }).textStream)
        onChunk(text);
    },
  };
}
