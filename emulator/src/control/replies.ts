import * as z from 'zod/mini';
import { described, label, marked, namedObject, text } from '../base/fields.js';
import {
  type ActiveReply,
  isLoop,
  LOOP_RULE,
  type ReplyContent,
  type ReplyMatch,
  replyContent,
} from '../completions/scripted-replies.js';

const expression = marked(
  'expression',
  z
    .object({ pattern: text, flags: z.optional(z.string()) })
    .check(z.refine(isExpression, 'not a valid regular expression')),
);
/** A scripted reply. */
export const replySchema = namedObject('Reply', {
  match: z.union([
    described('The last user message contains this text.', text),
    described('The last user message matches this regular expression.', expression),
  ]),
  reply: z.union([
    replyContent,
    described(
      'The first answers a message of the user, the second the results of its tool calls, and so on.',
      z.array(replyContent).check(z.refine((replies) => isLoop(replies), LOOP_RULE)),
    ),
  ]),
});
export const activeReply = z.object({ id: label, ...replySchema.shape });

/** Converts a scripted reply to the arguments of `chat.on`. */
export function replyFrom({ match, reply }: z.infer<typeof replySchema>): {
  match: ReplyMatch;
  reply: ReplyContent | ReplyContent[];
} {
  // linear: an expression of the developer, in his own emulator
  return { match: typeof match === 'string' ? match : new RegExp(match.pattern, match.flags), reply };
}

/** An active reply in JSON. A function becomes a placeholder. */
export function replyInJson({ id, match, reply }: ActiveReply): z.infer<typeof activeReply> {
  const shown = match instanceof RegExp ? { pattern: match.source, flags: match.flags } : match;
  return {
    id,
    match: typeof shown === 'function' ? '(a function)' : shown,
    reply: typeof reply === 'function' ? '(a function)' : reply,
  };
}

export function isExpression({ pattern, flags }: { pattern: string; flags?: string | undefined }): boolean {
  try {
    new RegExp(pattern, flags); // linear: an expression of the developer, in his own emulator
    return true;
  } catch {
    return false;
  }
}
