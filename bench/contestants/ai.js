/** The AI SDK with its provider for OpenAI-compatible services, both with default options. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import { key, messages } from './call.js';

/** The system message goes into `system`: among `messages`, the AI SDK would warn at every call. */
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
