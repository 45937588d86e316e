import type { Answers } from '../../src/index.js';
import { Card, Title } from '../parts/card.js';
import { Code } from '../parts/code.js';
import { Load } from '../parts/load.js';
import { Item, Records } from '../parts/records.js';
import { plural } from '../service/words.js';
import { Replies } from './replies.js';

/** Where completions come from: scripted replies, recordings, an upstream or the built-in responder. */
export function AnswersView() {
  return (
    <>
      {/* Recordings are files: they change with the requests. */}
      <Load<Answers> path="/answers" topics={['requests']}>
        {(answers) => (
          <>
            <Title name="Answers">{sourceText(answers)}</Title>
            <Replies />
            {answers.directory !== undefined && <Recordings answers={answers} />}
          </>
        )}
      </Load>
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

function Recordings({ answers: { directory, recordings } }: { answers: Answers }) {
  return (
    <Card title="Recordings" aside={<span class="soft">{plural(recordings.length, 'request')}</span>}>
      <p class="soft">
        In <code>{directory}</code>. The answers to a repeated question come in this order.
      </p>
      <Records of={recordings} id="recordings" empty="Nothing was recorded yet.">
        {({ file, request, answers }) => (
          <Item
            key={file}
            name={
              <details>
                <summary>
                  {questionOf(request)} <span class="soft">{plural(answers.length, 'answer')}</span>
                </summary>
                <ol>
                  {answers.map((answer, i) => (
                    <li key={i}>{answer}</li>
                  ))}
                </ol>
                <Code label={`Request of ${file}`} text={JSON.stringify(request, null, 2)} />
              </details>
            }
          />
        )}
      </Records>
    </Card>
  );
}

function questionOf({ messages }: Record<string, unknown>): string {
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const content = typeof last === 'object' && last !== null && 'content' in last ? last.content : '';
  return (typeof content === 'string' ? content : JSON.stringify(content)).slice(0, 120);
}
