import { useState } from 'preact/hooks';
import type { SummaryVersion } from '../../src/store/conversation-records.js';
import { Card } from '../parts/card.js';
import { Select } from '../parts/field.js';
import { count, percent } from '../service/words.js';
import { allLines, type Line, SECTIONS } from './sections.js';

/** Compares two versions of the summary: removed, added and unchanged entries. */
export function VersionsCard({ versions }: { versions: readonly SummaryVersion[] }) {
  const [chosen, setChosen] = useState<{ from?: number; to?: number }>({});
  const numbers = versions.map(({ summary }) => summary.version);
  const to = chosen.to ?? numbers.at(-1) ?? 0;
  const from = chosen.from ?? Math.max(0, to - 1);
  const find = (number: number): SummaryVersion | undefined =>
    versions.find(({ summary }) => summary.version === number);
  const options = [0, ...numbers].map((number) => ({
    value: String(number),
    label: number === 0 ? 'empty' : `version ${number}`,
  }));
  const choose = (
    <div class="row">
      <Select
        label="From"
        id="version-from"
        value={String(from)}
        onChange={(value) => setChosen({ ...chosen, from: Number(value) })}
        options={options}
      />
      <Select
        label="To"
        id="version-to"
        value={String(to)}
        onChange={(value) => setChosen({ ...chosen, to: Number(value) })}
        options={options}
      />
    </div>
  );
  return (
    <Card title="Versions of the summary" aside={choose}>
      <div class="columns">
        <Column version={find(from)} other={find(to)} mark="gone" title={`Version ${from}`} />
        <Column version={find(to)} other={find(from)} mark="new" title={`Version ${to}`} />
      </div>
    </Card>
  );
}

function Column({
  version,
  other,
  mark,
  title,
}: {
  version: SummaryVersion | undefined;
  other: SummaryVersion | undefined;
  mark: 'gone' | 'new';
  title: string;
}) {
  const lines = version === undefined ? [] : allLines(version.summary);
  const known = new Set((other === undefined ? [] : allLines(other.summary)).map(keyOf));
  return (
    <div class="version">
      <h3>
        {title} <span class="soft">{version === undefined ? 'nothing summarized yet' : describe(version)}</span>
      </h3>
      {SECTIONS.map(({ section, title: heading }) => {
        const own = lines.filter((line) => line.section === section);
        if (own.length === 0) return null;
        return (
          <div key={section}>
            <h4>{heading}</h4>
            <ul>
              {own.map((line) => {
                const isChanged = !known.has(keyOf(line));
                return (
                  <li key={keyOf(line)} class={isChanged ? mark : 'same'}>
                    <span class="sign" aria-hidden="true">
                      {isChanged && (mark === 'new' ? '+' : '−')}
                    </span>
                    {isChanged && <span class="unseen">{mark === 'new' ? 'added: ' : 'removed: '}</span>}
                    <span>{line.note === '' ? line.text : `${line.text} (${line.note})`}</span>
                  </li>
                );
              })}
            </ul>
          </div>
        );
      })}
    </div>
  );
}

function keyOf({ section, text, note }: Line): string {
  return `${section} ${text} ${note}`;
}

function describe({ cause, summarizer, previousTokens, compressedTokens, totalTokens }: SummaryVersion): string {
  const how = cause === 'exclude' ? 'a message was excluded' : `${cause} compaction`;
  const who = summarizer === 'upstream' ? ' by a model' : '';
  const share = totalTokens > 0 ? ` (${percent(compressedTokens / totalTokens)})` : '';
  return `${how}${who}, ${count(previousTokens)} to ${count(compressedTokens)} tokens${share}`;
}
