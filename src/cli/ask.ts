import { attachedText } from './attached-text.js';
import { inJSON } from './tables.js';
import { modelOf, printReply, TALK_PARAMETERS, type Talk } from './talk.js';
import { UsageError } from './usage-error.js';

/** One question and its reply. */
export const ASK: Talk = {
  command: 'ask',
  description: 'Ask a model a question, about the text of files and of standard input',
  parameters: { question: { description: 'The question', required: true }, ...TALK_PARAMETERS },
  async run({ gateway }, { given, files, json }, { input, out }) {
    const model = modelOf(given);
    const attached = await attachedText(files, input.isTTY ? undefined : input);
    const content = [attached, given.question].filter(Boolean).join('\n\n');
    if (content.trim() === '') throw new UsageError('The question is empty, and no text comes with it.');
    const system = given.system ? [{ role: 'system' as const, content: given.system }] : [];
    const params = { model, messages: [...system, { role: 'user' as const, content }] };
    if (json) out(inJSON(await gateway.chat.completions.create(params)));
    else await printReply((await gateway.chat.completions.create({ ...params, stream: true })).textStream, out);
  },
};
