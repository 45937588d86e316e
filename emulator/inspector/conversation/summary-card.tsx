import type { InspectedConversation } from '../../src/control/overview.js';
import { Card, Empty } from '../parts/card.js';
import { type Line, linesOf, SECTIONS } from './sections.js';

/** The rolling summary. Each entry links to the message it comes from. */
export function SummaryCard({
  conversation: { rollingSummary, sources },
  onShow,
}: {
  conversation: InspectedConversation;
  onShow: (messageId: string) => void;
}) {
  const sections = SECTIONS.map(({ section, title }) => ({ section, title, lines: linesOf(rollingSummary, section) }));
  const style = Object.entries(rollingSummary.stylePreferences);
  const sourceOf = ({ text, note }: Line): string | undefined =>
    sources.find((source) => source.text === text || source.text === note)?.messageId;
  return (
    <Card title="Rolling summary" aside={<span class="soft">version {rollingSummary.version}</span>}>
      {sections.every(({ lines }) => lines.length === 0) && (
        <Empty>Empty: the context contains the messages unchanged. Compact the conversation to fill it.</Empty>
      )}
      {sections
        .filter(({ lines }) => lines.length > 0)
        .map(({ section, title, lines }) => (
          <section key={section} class={`section ${section}`}>
            <h3>
              {title} <span class="number">{lines.length}</span>
            </h3>
            <ul class="entries">
              {lines.map((line) => (
                <li key={`${line.text} ${line.note}`}>
                  <Entry line={line} source={sourceOf(line)} onShow={onShow} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      {style.length > 0 && <p class="soft">Style: {JSON.stringify(rollingSummary.stylePreferences)}</p>}
    </Card>
  );
}

function Entry({ line, source, onShow }: { line: Line; source: string | undefined; onShow: (id: string) => void }) {
  const words = (
    <>
      {line.tag !== undefined && <span class="tag">{line.tag}</span>}
      <span class="text">{line.text}</span>
      {line.note !== '' && <span class="note">{line.note}</span>}
    </>
  );
  if (source === undefined) return words;
  return (
    <button type="button" class="entry" title="Show the message it comes from" onClick={() => onShow(source)}>
      {words}
    </button>
  );
}
