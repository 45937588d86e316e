import { useState } from 'preact/hooks';
import type { InspectedConversation } from '../../src/control/page/inspected-conversation.js';
import type { SummaryVersion } from '../../src/store/conversation-records.js';
import { Card, Empty } from '../parts/card.js';
import { bound, Select } from '../parts/field.js';
import { count, percent } from '../service/words.js';
import { type Line, linesOf, SECTIONS } from './sections.js';

/** The rolling summary, or an earlier version of it, with what differs from another one. */
export function SummaryCard({
  conversation: { rollingSummary, sources, versions },
  onShow,
}: {
  conversation: InspectedConversation;
  onShow: (messageId: string) => void;
}) {
  // Empty for the newest version, and for no comparison.
  const [chosen, setChosen] = useState({ shown: '', other: '' });
  const find = (number: string): SummaryVersion | undefined =>
    versions.find(({ summary }) => String(summary.version) === number);
  const version = find(chosen.shown) ?? versions.at(-1);
  const summary = version?.summary ?? rollingSummary;
  const other = chosen.other === '' ? summary : find(chosen.other)?.summary;
  const sections = SECTIONS.map(({ section, title }) => {
    const lines = linesOf(summary, section);
    const before = other === undefined ? [] : linesOf(other, section);
    const gone = before.filter((line) => !has(lines, line));
    return { section, title, before, lines: [...lines, ...gone], gone: new Set(gone) };
  }).filter(({ lines }) => lines.length > 0);
  const style = Object.entries(summary.stylePreferences);
  const sourceOf = ({ text, note }: Line): string | undefined =>
    sources.find((source) => source.text === text || source.text === note)?.messageId;
  const numbers = versions.map(({ summary: { version: one } }) => [String(one), `version ${one}`] as const);
  const choose = versions.length > 0 && (
    <div class="row">
      <Select
        label="Version"
        id="version-to"
        of={bound(String(summary.version), (shown) => setChosen({ ...chosen, shown }))}
        options={numbers}
      />
      <Select
        label="Compared with"
        id="version-from"
        of={bound(chosen.other, (other) => setChosen({ ...chosen, other }))}
        options={[['', 'nothing'], ['0', 'empty'], ...numbers]}
      />
    </div>
  );
  return (
    <Card title="Rolling summary" aside={choose}>
      {version !== undefined && <p class="soft">{describe(version)}</p>}
      {sections.length === 0 && (
        <Empty>Empty: the context contains the messages unchanged. Compact the conversation to fill it.</Empty>
      )}
      {sections.map(({ section, title, before, lines, gone }) => (
        <section key={section} class="section">
          <h3>
            {title} <span class="soft">{lines.length - gone.size}</span>
          </h3>
          <ul class="entries">
            {lines.map((line) => {
              const change = gone.has(line) ? 'gone' : has(before, line) ? undefined : 'new';
              return (
                <li key={`${line.text} ${line.note}`} class={change}>
                  {change !== undefined && <span class="unseen">{change === 'new' ? 'added: ' : 'removed: '}</span>}
                  <Entry line={line} source={sourceOf(line)} onShow={onShow} />
                </li>
              );
            })}
          </ul>
        </section>
      ))}
      {style.length > 0 && <p class="soft">Style: {JSON.stringify(summary.stylePreferences)}</p>}
    </Card>
  );
}

function has(lines: readonly Line[], { text, note }: Line): boolean {
  return lines.some((line) => line.text === text && line.note === note);
}

function Entry({ line, source, onShow }: { line: Line; source: string | undefined; onShow: (id: string) => void }) {
  const words = (
    <>
      {line.tag !== undefined && <span class="tag">{line.tag}</span>}
      {line.tag === undefined ? line.text : <code class="pre">{line.text}</code>}
      {line.note !== '' && <small class="soft">{line.note}</small>}
    </>
  );
  if (source === undefined) return words;
  return (
    <button type="button" class="entry" title="Show the message it comes from" onClick={() => onShow(source)}>
      {words}
    </button>
  );
}

function describe({ cause, summarizer, previousTokens, compressedTokens, totalTokens }: SummaryVersion): string {
  const others: Partial<Record<typeof cause, string>> = {
    exclude: 'a message was excluded',
    cut: 'messages were deleted',
  };
  const how = others[cause] ?? `${cause} compaction`;
  const who = summarizer === 'upstream' ? ' by a model' : '';
  const share = totalTokens > 0 ? ` (${percent(compressedTokens / totalTokens)})` : '';
  return `${how}${who}, ${count(previousTokens)} to ${count(compressedTokens)} tokens${share}`;
}
