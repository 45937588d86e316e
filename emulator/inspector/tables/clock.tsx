import { useSignal } from '@preact/signals';
import { ActionButton } from '../parts/action.js';
import { Card, ErrorLine } from '../parts/card.js';
import { FileField } from '../parts/field.js';
import { ask } from '../service/control.js';
import { readJson } from '../service/files.js';
import { useAction } from '../service/use-action.js';

const STEPS = [
  { label: '1 minute', ms: 60_000 },
  { label: '1 hour', ms: 3_600_000 },
  { label: '1 day', ms: 86_400_000 },
  { label: '30 days', ms: 30 * 86_400_000 },
];

/** Advances the clock by usual steps. */
export function ClockSteps() {
  return (
    <Card title="Advance the clock">
      <p class="soft">Windows of rate limits end, keys expire, and a new month of usage can start.</p>
      <div class="row">
        {STEPS.map(({ label, ms }) => (
          <ActionButton key={label} act={() => ask('POST', '/clock', { advance: ms })}>
            + {label}
          </ActionButton>
        ))}
      </div>
    </Card>
  );
}

/** All stored data as a file. It may be too long for a field of a form. */
export function StateFile() {
  const { run, error } = useAction();
  const status = useSignal('');
  const load = async (file: File): Promise<void> => {
    status.value = '';
    await ask('PUT', '/state', await readJson(file));
    status.value = `Loaded ${file.name}.`;
  };
  return (
    <Card title="State as a file">
      <p class="soft">
        All stored data and the clock, without requests and faults. Anyone with the file can derive the first keys.
      </p>
      <div class="form">
        <a class="button" id="state-save" href="/_emulator/state" download="emulator-state.json">
          Download
        </a>
        <FileField
          label="Replace all data by a file"
          id="state-load"
          accept=".json,application/json"
          onFile={(file) => run(() => load(file))}
        />
      </div>
      {status.value !== '' && <p role="status">{status.value}</p>}
      <ErrorLine>{error}</ErrorLine>
    </Card>
  );
}
