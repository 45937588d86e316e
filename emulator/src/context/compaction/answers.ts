/** What a message is to one who asked something before. */
export type Reply = 'answer' | 'doubt' | 'nothing';

/**
 * For each message: what the first other speaker said to what it asked. Something to say is an answer, unless it is a
 * doubt ("I don't know", "still to be decided"); only another question is nothing yet.
 */
export function repliesTo(messages: readonly { role: string; asks: boolean; reply: Reply }[]): Reply[] {
  return messages.map(({ role, asks }, i) => {
    if (!asks) return 'nothing';
    for (let next = i + 1; next < Math.min(messages.length, i + 1 + PATIENCE); next += 1) {
      const { role: other, reply } = messages[next] ?? { role, reply: 'nothing' };
      if (other !== role && reply !== 'nothing') return reply;
    }
    return 'nothing';
  });
}

/** What a message is as a reply; its beginning says so. */
export function replyKind(content: string): Reply {
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
/** In messages: who has not answered after so many will not. */
const PATIENCE = 6;
const YES_OR_NO = /^\s*(?:yes|yeah|yep|no|nope|sure|right|exactly|correct)\b/i;
const DOUBTS =
  /\b(?:don't|doesn't|didn't|do not|does not) know\b|\bno idea\b|\bnot (?:yet )?(?:sure|decided|clear)\b|\bundecided\b|\bunclear\b|\bopen (?:question|issue|point)\b|\bto be (?:decided|determined|confirmed|seen)\b|\b(?:have|need|haven't|has|hasn't) (?:not |yet |still |to )*(?:decide|find out|check|ask|figure)\w*\b|\bcheck (?:it|that|this|with)\b|\bfind (?:it |that )?out\b|\b(?:good|tricky|hard) question\b|\bit depends\b/i;
