import { useSignal } from '@preact/signals';
import type { SnapshotInfo } from '../../src/control/state/snapshots.js';
import type { EmulatorState } from '../../src/control/state/state.js';
import { ActionButton, ActionForm } from '../parts/action.js';
import { Card, ErrorLine, Title } from '../parts/card.js';
import { Field, FileField } from '../parts/field.js';
import { Item, Records } from '../parts/records.js';
import { ask } from '../service/control.js';
import { readJson, saveFile } from '../service/files.js';
import { emulatorTime } from '../service/live.js';
import { useAction } from '../service/use-action.js';
import { useLoaded } from '../service/use-loaded.js';
import { dateAndTime, plural } from '../service/words.js';

/** The clock, and snapshots of all stored data. */
export function SystemView() {
  return (
    <>
      <Title name="Clock and state">Advance the clock, save and load snapshots, or start over.</Title>
      <ClockCard />
      <SnapshotCard />
      <ResetCard />
    </>
  );
}

const STEPS = [
  { label: '1 minute', ms: 60_000 },
  { label: '1 hour', ms: 3_600_000 },
  { label: '1 day', ms: 86_400_000 },
  { label: '30 days', ms: 30 * 86_400_000 },
];

function ClockCard() {
  const seconds = useSignal('');
  const advance = (ms: number) => ask('POST', '/clock', { advance: ms });
  return (
    <Card title="Clock">
      <p class="clock" aria-live="polite">
        <strong id="clock">{emulatorTime.value === '' ? '–' : dateAndTime(emulatorTime.value)}</strong>{' '}
        <span class="soft">UTC, when this page was last updated</span>
      </p>
      <div class="row">
        {STEPS.map(({ label, ms }) => (
          <ActionButton key={label} act={() => advance(ms)}>
            + {label}
          </ActionButton>
        ))}
      </div>
      <ActionForm act={() => advance(Number(seconds.value) * 1000)} button="Advance" kind="plain">
        <Field label="Seconds" type="number" min={0} step="any" of={seconds} isRequired />
      </ActionForm>
      <p class="soft">
        Rate limit windows end, keys expire, and a new month of usage can start. A snapshot or a reset puts the clock
        back.
      </p>
    </Card>
  );
}

function SnapshotCard() {
  const { data: snapshots = [], error: reason, reload } = useLoaded<SnapshotInfo[]>('/snapshots', ['everything']);
  const { run, error = reason } = useAction();
  const status = useSignal('');
  const name = useSignal('');
  const pathOf = (given: string): string => `/snapshots/${encodeURIComponent(given)}`;
  /** Does something, lists the snapshots again, and says that it is done. */
  const change = async (work: Promise<unknown>, done: string): Promise<void> => {
    status.value = '';
    await work;
    await reload();
    status.value = done;
  };
  const keep = async (): Promise<void> => {
    await change(ask('PUT', pathOf(name.value)), `Kept ${name.value}.`);
    name.value = '';
  };
  const save = async (): Promise<void> =>
    saveFile('emulator-state.json', JSON.stringify(await ask<EmulatorState>('GET', '/state'), null, 2));
  const load = async (file: File): Promise<void> => {
    const state = await readJson(file);
    if (!(state instanceof Object && 'seed' in state)) throw new Error('This file is not a snapshot of the emulator.');
    await change(ask('PUT', '/state', state), `Loaded ${file.name}.`);
  };
  return (
    <Card title="Snapshot">
      <p class="soft">
        All stored data and the clock, without the request log and faults. Restoring one replaces the current data. Kept
        snapshots last until the emulator stops. A downloaded one contains hashes of the keys, and the seed of the first
        keys: anyone with the file can derive these.
      </p>
      <ActionForm act={keep} button="Keep a snapshot" id="snapshot-keep">
        <Field label="Name" id="snapshot-name" of={name} placeholder="before the migration" isRequired />
      </ActionForm>
      <Records of={snapshots} id="snapshots">
        {({ name: given, time, conversations }) => (
          <Item
            key={given}
            name={<strong>{given}</strong>}
            note={`${dateAndTime(time)} UTC · ${plural(conversations, 'conversation')}`}
            actions={
              <>
                <ActionButton
                  label={`Restore ${given}`}
                  act={() => change(ask('POST', `${pathOf(given)}/restore`), `Restored ${given}.`)}
                >
                  Restore
                </ActionButton>
                <ActionButton
                  sure="Really delete"
                  label={`Delete ${given}`}
                  act={() => change(ask('DELETE', pathOf(given)), `Deleted ${given}.`)}
                >
                  Delete
                </ActionButton>
              </>
            }
          />
        )}
      </Records>
      <div class="form">
        <ActionButton act={save} id="snapshot-save">
          Download
        </ActionButton>
        <FileField
          label="Load a snapshot"
          id="snapshot-load"
          accept=".json,application/json"
          onFile={(file) => run(() => load(file))}
        />
      </div>
      {status.value !== '' && <p role="status">{status.value}</p>}
      <ErrorLine>{error}</ErrorLine>
    </Card>
  );
}

function ResetCard() {
  const isDone = useSignal(false);
  const reset = async (): Promise<void> => {
    isDone.value = false;
    await ask('POST', '/reset');
    isDone.value = true;
  };
  return (
    <Card title="Reset">
      <p class="soft">
        Restores the initial state with the same keys. Deletes conversations, memory, usage, faults and the request log.
        The clock returns to its start. Kept snapshots stay.
      </p>
      <div class="row">
        <ActionButton kind="plain" sure="Really reset everything" id="reset" act={reset}>
          Reset
        </ActionButton>
      </div>
      {isDone.value && <p role="status">The emulator is in its initial state.</p>}
    </Card>
  );
}
