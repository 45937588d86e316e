import type { Answers } from '../../src/index.js';
import { Title } from '../parts/card.js';
import { useLoaded } from '../service/use-loaded.js';
import { part } from '../tables/description.js';
import { PartCards } from '../tables/part.js';

/** Recordings are files: they change with the requests. */
const PART = part('answers', 'Answers', ['replies', 'answers'], ['requests', 'replies']);
const TOOL_CALL = '{ "tool_calls": [{ "function": { "name": "get_weather", "arguments": { "city": "Oslo" } } }] }';

/** Where completions come from: scripted replies, recordings, an upstream or the built-in responder. */
export function AnswersView() {
  const { data } = useLoaded<Answers>('/answers', []);
  return (
    <>
      <Title name="Answers">{data && sourceText(data)}</Title>
      <p>
        The first scripted reply whose text is in the last message of the user answers, before any other source. A reply
        is a text, or an object such as <code>{TOOL_CALL}</code>.
      </p>
      <PartCards part={PART} />
    </>
  );
}

/** Where completions come from, in one sentence. */
export function sourceText({ from, upstream, directory }: Pick<Answers, 'from' | 'upstream' | 'directory'>): string {
  if (from === 'recording') return `Answers are replayed from ${directory}. No connection is opened.`;
  if (from === 'upstream') {
    const recorded = directory === undefined ? '' : `, and recorded in ${directory}`;
    return `Answers come from the model at ${upstream}${recorded}.`;
  }
  return 'Answers are built in: sentences of the request that contain the rarest word of the question. No model is asked.';
}
