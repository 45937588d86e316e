import { useSignal } from '@preact/signals';
import { ActionButton } from '../parts/action.js';
import { Card, ErrorLine } from '../parts/card.js';
import { FileField } from '../parts/field.js';
import { ask } from '../service/control.js';
import { useAction } from '../service/use-action.js';
import { parsedJson } from '../service/words.js';

/** In minutes. */
const STEPS = { '1 minute': 1, '1 hour': 60, '1 day': 60 * 24, '30 days': 60 * 24 * 30 };

/** Usual steps of the clock, and all stored data as a file, which may be too long for a field of a form. */
export function ClockAndState() {
  const { run, error } = useAction();
  const status = useSignal('');
  const load = async (file: File): Promise<void> => {
    status.value = '';
    await ask('PUT', '/state', parsedJson(await file.text(), file.name));
    status.value = `Loaded ${file.name}.`;
  };
  return (
    <Card title="Steps of the clock, and the state as a file">
      <div class="row">
        {Object.entries(STEPS).map(([label, minutes]) => (
          <ActionButton key={label} act={() => ask('POST', '/clock', { advance: minutes * 60_000 })}>
            + {label}
          </ActionButton>
        ))}
      </div>
      <div class="form">
        <a class="button" id="state-save" href="/_emulator/state" download="emulator-state.json">
          Download all data
        </a>
        <FileField label="Replace all data by a file" id="state-load" onFile={(file) => run(() => load(file))} />
        <p class="soft">Without requests and faults. Anyone with the file can derive the first keys.</p>
      </div>
      {status.value !== '' && <p role="status">{status.value}</p>}
      <ErrorLine>{error}</ErrorLine>
    </Card>
  );
}
