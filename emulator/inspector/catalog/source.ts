import type { Answers } from '../../src/index.js';

/** Where completions come from, in one sentence. */
export function sourceText({ from, upstream, directory }: Pick<Answers, 'from' | 'upstream' | 'directory'>): string {
  if (from === 'recording') return `Answers are replayed from ${directory}. No connection is opened.`;
  if (from === 'upstream') {
    const recorded = directory === undefined ? '' : `, and recorded in ${directory}`;
    return `Answers come from the model at ${upstream}${recorded}.`;
  }
  return 'Answers are built in: sentences of the request that fit the question. No model is asked.';
}
