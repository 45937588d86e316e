/** What a message is to an earlier question: an answer, a doubt, or neither. */
export type ReplyKind = 'answer' | 'doubt' | 'nothing';

/**
 * For each message that asks something: how the other speaker replied. Any statement counts as an answer, unless it is
 * a doubt ("I don't know", "still to be decided"). A message that only asks another question is no reply yet.
 */
export function repliesTo(messages: readonly { role: string; asks: boolean; reply: ReplyKind }[]): ReplyKind[] {
  return messages.map(({ role, asks }, i) => {
    if (!asks) return 'nothing';
    for (let next = i + 1; next < Math.min(messages.length, i + 1 + PATIENCE); next += 1) {
      const { role: other, reply } = messages[next] ?? { role, reply: 'nothing' };
      if (other !== role && reply !== 'nothing') return reply;
    }
    return 'nothing';
  });
}

/** Classifies a message as a reply, by its beginning. */
export function replyKind(content: string): ReplyKind {
  const start = content.slice(0, BEGINNING);
  if (DOUBTS.test(start)) return 'doubt';
  const statements = start
    .split(/(?<=[.!?\n])/)
    .filter((part) => !part.includes('?'))
    .join('');
  return YES_OR_NO.test(statements) || (statements.match(/[\p{L}\p{N}]{2,}/gu) ?? []).length >= 2
    ? 'answer'
    : 'nothing';
}

/** In characters. */
const BEGINNING = 2000;
/** In messages. A question without a reply after this many is taken as unanswered. */
const PATIENCE = 6;
const YES_OR_NO = /^\s*(?:yes|yeah|yep|no|nope|sure|right|exactly|correct)\b/i;
const DOUBTS =
  /\b(?:don't|doesn't|didn't|do not|does not) know\b|\bno idea\b|\bnot (?:yet )?(?:sure|decided|clear)\b|\bundecided\b|\bunclear\b|\bopen (?:question|issue|point)\b|\bto be (?:decided|determined|confirmed|seen)\b|\b(?:have|need|haven't|has|hasn't) (?:not |yet |still |to )*(?:decide|find out|check|ask|figure)\w*\b|\bcheck (?:it|that|this|with)\b|\bfind (?:it |that )?out\b|\b(?:good|tricky|hard) question\b|\bit depends\b/i;
