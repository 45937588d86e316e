import type { ChatMessage } from 'context-gateway';

/** A passage of the prompt that an answer repeats. */
export interface Evidence {
  /** The number of its message, from 1. */
  message: number;
  role: string;
  text: string;
}

/** The passages of the prompt that an answer repeats: most words of one of its sentences. The question is not one. */
export function evidenceOf(answer: string, prompt: readonly ChatMessage[]): Evidence[] {
  const sentences = passagesOf(answer)
    .map(wordsOf)
    .filter((words) => words.size >= FEWEST_WORDS);
  return prompt.slice(0, -1).flatMap(({ role, content }, i) =>
    passagesOf(typeof content === 'string' ? content : '')
      .filter((passage) => {
        const words = wordsOf(passage);
        return sentences.some((sentence) => share(sentence, words) >= MOST_SHARED);
      })
      .map((text) => ({ message: i + 1, role, text })),
  );
}

/** Sentences and lines. */
function passagesOf(text: string): string[] {
  return text
    .split(/\n+|(?<=[.!?。])\s+/)
    .map((passage) => passage.replace(/^[\s*#-]+/, '').trim())
    .filter((passage) => passage !== '');
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}

function share(of: ReadonlySet<string>, inside: ReadonlySet<string>): number {
  return [...of].filter((word) => inside.has(word)).length / of.size;
}

const FEWEST_WORDS = 3;
const MOST_SHARED = 0.8;
