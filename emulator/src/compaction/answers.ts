/** What became of the questions of a message. */
export type Reply = 'answer' | 'doubt' | 'nothing';

/**
 * For each message: what the first other speaker said to what it asked. Something to say is an answer, unless it is a
 * doubt ("I don't know", "still to be decided"); only another question is nothing yet.
 */
export function repliesTo(messages: readonly { role: string; content: string }[]): Reply[] {
  const replies = messages.map(({ content }) => replyKind(content));
  return messages.map(({ role, content }, i) => {
    if (!content.includes('?')) return 'nothing';
    for (let next = i + 1; next < Math.min(messages.length, i + 1 + PATIENCE); next += 1) {
      if (messages[next]?.role === role || replies[next] === 'nothing') continue;
      return replies[next] ?? 'nothing';
    }
    return 'nothing';
  });
}

function replyKind(content: string): Reply {
  if (DOUBTS.test(content)) return 'doubt';
  const statements = content
    .split(/(?<=[.!?\n])/)
    .filter((part) => !part.includes('?'))
    .join('');
  return YES_OR_NO.test(statements) || (statements.match(/[\p{L}\p{N}]{2,}/gu) ?? []).length >= 2
    ? 'answer'
    : 'nothing';
}

/** In messages: who has not answered after so many will not. */
const PATIENCE = 6;
const YES_OR_NO = /^\s*(?:yes|yeah|yep|no|nope|sure|right|exactly|correct)\b/i;
const DOUBTS =
  /\b(?:don't|doesn't|didn't|do not|does not) know\b|\bno idea\b|\bnot (?:yet )?(?:sure|decided|clear)\b|\bundecided\b|\bunclear\b|\bopen (?:question|issue|point)\b|\bto be (?:decided|determined|confirmed|seen)\b|\b(?:have|need|haven't|has|hasn't) (?:not |yet |still |to )*(?:decide|find out|check|ask|figure)\w*\b|\bcheck (?:it|that|this|with)\b|\bfind (?:it |that )?out\b|\b(?:good|tricky|hard) question\b|\bit depends\b/i;
