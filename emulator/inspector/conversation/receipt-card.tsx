import type { SummaryEntry } from 'context-gateway/conversation';
import type { CompactionLevel } from '../../src/index.js';
import { Button } from '../parts/button.js';
import { Card, Figure } from '../parts/card.js';
import { count, percent, plural } from '../service/words.js';
import type { Receipt } from './losses.js';

/** A compaction started on this page, with its receipt. */
export interface Compacted {
  level: CompactionLevel;
  result: { previousTokenCount: number; newTokenCount: number; tokensRemoved: number; summaryUpdated: boolean };
  receipt: Receipt;
}

/** The statements that a compaction kept, reworded and lost. */
export function ReceiptCard({ compacted, onClose }: { compacted: Compacted; onClose: () => void }) {
  const { level, result, receipt } = compacted;
  const { live, gone } = receipt.messages;
  const { previousTokenCount, newTokenCount, tokensRemoved } = result;
  const close = (
    <Button kind="quiet" onClick={onClose}>
      Dismiss
    </Button>
  );
  return (
    <Card title={`Receipt of the ${level} compaction`} kind="receipt" aside={close}>
      <p role="status" id="receipt">
        {tokensRemoved === 0
          ? 'Nothing was removed: the context is already as small as this level allows.'
          : `${count(previousTokenCount)} tokens became ${count(newTokenCount)}: ${count(tokensRemoved)} fewer to send (${percent(tokensRemoved / previousTokenCount)}).`}
      </p>
      <div class="figures">
        <Figure value={count(receipt.kept.length)}>kept</Figure>
        <Figure value={count(receipt.reworded.length)}>reworded</Figure>
        <Figure value={count(receipt.lost.length)}>lost</Figure>
        <Figure value={`${count(gone)} of ${count(live)}`}>messages represented nowhere</Figure>
      </div>
      <p class="note">
        {plural(receipt.recognised, 'statement')} recognised before (in English only). Anything else may be lost without
        being listed.
      </p>
      {receipt.kept.length > 0 && (
        <details>
          <summary>{plural(receipt.kept.length, 'statement')} kept</summary>
          <ul class="entries">
            {receipt.kept.map((entry) => (
              <li key={keyOf(entry)}>{entry.text}</li>
            ))}
          </ul>
        </details>
      )}
      {receipt.reworded.length > 0 && (
        <details>
          <summary>{count(receipt.reworded.length)} reworded</summary>
          <ul class="entries">
            {receipt.reworded.map(({ before, after }) => (
              <li key={keyOf(before)}>
                <del>{before.text}</del> <ins>{after.text}</ins>
              </li>
            ))}
          </ul>
        </details>
      )}
    </Card>
  );
}

function keyOf({ section, term = '', text }: SummaryEntry): string {
  return `${section} ${term} ${text}`;
}
