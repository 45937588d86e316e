import type { RequestRecord } from '../../src/http/log/request-record.js';
import { type Color, Gauge, inColor, Legend } from '../parts/gauge.js';
import { Item, Records } from '../parts/records.js';
import { count, percent, plural } from '../service/words.js';

type Prompt = NonNullable<RequestRecord['prompt']>;
type Part = NonNullable<Prompt['messages'][number]['part']>;

/** What a part of the conversation helper's prompt is, and its colour. */
const PARTS: Readonly<Record<Part, { name: string; kind: Color }>> = {
  instructions: { name: 'instructions', kind: 'series-4' },
  context: { name: 'context', kind: 'summary' },
  newest: { name: 'newest messages', kind: 'recent' },
  recalled: { name: 'recalled', kind: 'pinned' },
  input: { name: 'input', kind: 'series-3' },
};

/** Why a prompt is as long as it is: the tokens of its messages, the largest first. */
export function PromptPart({ prompt }: { prompt: Prompt }) {
  const { tokens, contextWindow, messages, others } = prompt;
  const shares = Object.entries(PARTS)
    .map(([part, { name, kind }]) => ({
      name,
      kind,
      value: messages.filter((message) => message.part === part).reduce((sum, each) => sum + each.tokens, 0),
    }))
    .filter(({ value }) => value > 0);
  const all = messages.length + others.messages;
  const total = `${count(tokens)} tokens in ${plural(all, 'message')}, ${percent(tokens / contextWindow)} of the model's window of ${count(contextWindow)}`;
  return (
    <details open id="prompt">
      <summary>Prompt: {plural(tokens, 'token')}</summary>
      <p class="soft">{total}.</p>
      {shares.length > 0 && (
        <>
          <Gauge shares={shares} total={tokens} label={shares.map((each) => `${each.name} ${each.value}`).join(', ')} />
          <Legend of={shares} />
        </>
      )}
      <Records of={messages.toSorted((a, b) => b.tokens - a.tokens)} most={6}>
        {({ index, role, part, tokens: own, text, lines }) => (
          <Item
            key={index}
            kind="prompt-message"
            name={
              <>
                <strong>{`${index + 1}. ${role}`}</strong>{' '}
                {part !== undefined && (
                  <span class="badge part" style={inColor(PARTS[part].kind)}>
                    {PARTS[part].name}
                    {lines !== undefined && `, ${lines === 1 ? '1 entry' : `${lines} entries`}`}
                  </span>
                )}
                <span class="soft">{`${plural(own, 'token')}, ${percent(own / tokens)}`}</span>
              </>
            }
          >
            <Gauge
              shares={[{ kind: part === undefined ? 'summary' : PARTS[part].kind, name: role, value: own }]}
              total={tokens}
              label={`message ${index + 1}: ${count(own)} of ${count(tokens)} tokens`}
            />
            <small class="soft clipped">{text}</small>
          </Item>
        )}
      </Records>
      {others.messages > 0 && (
        <p class="soft">{`${plural(others.messages, 'smaller message')} with ${plural(others.tokens, 'token')}`}</p>
      )}
    </details>
  );
}
