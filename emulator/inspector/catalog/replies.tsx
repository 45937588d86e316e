import { useSignal } from '@preact/signals';
import type { replyInJson } from '../../src/control/bodies.js';
import { ActionButton, ActionForm } from '../parts/action.js';
import { Card } from '../parts/card.js';
import { Field, Segments, Select } from '../parts/field.js';
import { Load } from '../parts/load.js';
import { Item, Records } from '../parts/records.js';
import { ask } from '../service/control.js';
import { replyText } from '../service/reply.js';
import { plural } from '../service/words.js';

type ScriptedReply = ReturnType<typeof replyInJson>;
type Form = 'text' | 'json' | 'tool';

/** Scripted replies, those of a program too, and a form to add one. */
export function Replies() {
  return (
    <Card title="Scripted replies">
      <p class="soft">The first one that fits the last user message answers, before any other source.</p>
      <Load<ScriptedReply[]> path="/replies" topics={['requests', 'replies']}>
        {(replies, reload) => (
          <>
            <Records of={replies} id="replies" empty="None yet.">
              {({ id, match, reply }) => (
                <Item
                  key={id}
                  name={
                    <>
                      <strong>{kindOf(reply)}</strong> <span class="soft">{matchOf(match)}</span>
                    </>
                  }
                  actions={
                    <ActionButton
                      sure="Really remove"
                      label={`Remove ${id}`}
                      act={() => ask('DELETE', `/replies/${encodeURIComponent(id)}`).then(reload)}
                    >
                      Remove
                    </ActionButton>
                  }
                >
                  <code class="pre field-line">{textOf(reply)}</code>
                </Item>
              )}
            </Records>
            <AddReply onAdded={reload} />
          </>
        )}
      </Load>
    </Card>
  );
}

function AddReply({ onAdded }: { onAdded: () => Promise<void> }) {
  const how = useSignal<'text' | 'regex'>('text');
  const match = useSignal('');
  const form = useSignal<Form>('text');
  const text = useSignal('');
  const tool = useSignal('');
  const finish = useSignal('');
  const add = async (): Promise<void> => {
    const content = {
      text: () => ({ content: text.value }),
      json: () => ({ json: parsed(text.value, 'The reply') }),
      tool: () => ({
        tool_calls: [{ function: { name: tool.value, arguments: parsed(text.value || '{}', 'The arguments') } }],
      }),
    }[form.value]();
    await ask('POST', '/replies', {
      match: how.value === 'text' ? match.value : { pattern: match.value, flags: 'i' },
      reply: finish.value === '' ? content : { ...content, finish_reason: finish.value },
    });
    for (const field of [match, text, tool]) field.value = '';
    await onAdded();
  };
  return (
    <ActionForm act={add} button="Add" id="reply-add">
      <Select
        label="Question"
        id="reply-how"
        of={how}
        options={[
          ['text', 'contains'],
          ['regex', 'matches'],
        ]}
      />
      <Field
        label={how.value === 'text' ? 'Text in the question' : 'Regular expression'}
        id="reply-match"
        of={match}
        isRequired
        placeholder={how.value === 'text' ? 'weather' : '^what.*weather'}
      />
      <Select
        label="Finish reason"
        id="reply-finish"
        of={finish}
        options={[['', 'as usual'], 'stop', 'length', 'tool_calls', 'content_filter']}
      />
      <div class="wide" id="reply-form">
        <Segments<Form>
          label="The reply is"
          of={form}
          options={[
            ['text', 'Text'],
            ['json', 'JSON'],
            ['tool', 'Tool call'],
          ]}
        />
      </div>
      {form.value === 'tool' && (
        <Field label="Function" id="reply-tool" of={tool} isRequired placeholder="get_weather" />
      )}
      <Field
        label={{ text: 'Reply', json: 'Reply as JSON', tool: 'Arguments as JSON' }[form.value]}
        id="reply-text"
        rows={form.value === 'text' ? 2 : 4}
        of={text}
        placeholder={{ text: 'It will rain.', json: '{ "rain": true }', tool: '{ "city": "Oslo" }' }[form.value]}
      />
    </ActionForm>
  );
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${what} must be JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function matchOf(match: ScriptedReply['match']): string {
  return typeof match === 'string'
    ? `if the question contains “${match}”`
    : `if it matches /${match.pattern}/${match.flags ?? ''}`;
}

type Content = Exclude<ScriptedReply['reply'], unknown[]>;

function kindOf(reply: ScriptedReply['reply']): string {
  if (Array.isArray(reply)) return `Turn of ${plural(reply.length, 'step')}`;
  if (typeof reply === 'string') return 'Text';
  const kind = reply.tool_calls !== undefined ? 'Tool call' : reply.json !== undefined ? 'JSON' : 'Text';
  return reply.finish_reason === undefined ? kind : `${kind}, finish reason ${reply.finish_reason}`;
}

function textOf(reply: ScriptedReply['reply']): string {
  if (!Array.isArray(reply)) return contentOf(reply);
  return reply.map((step, i) => `${i + 1}. ${contentOf(step)}`).join('\n');
}

function contentOf(reply: Content): string {
  if (typeof reply === 'string') return reply;
  return reply.json === undefined ? replyText(reply) : JSON.stringify(reply.json);
}
