import { useState } from 'preact/hooks';
import type { SnapshotInfo } from '../../src/control/snapshots.js';
import type { EmulatorState } from '../../src/control/state.js';
import { Button, ConfirmButton } from '../parts/button.js';
import { Card, ErrorLine, Title } from '../parts/card.js';
import { Field, Form } from '../parts/field.js';
import { ask } from '../service/control.js';
import { saveFile } from '../service/files.js';
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
  const { run, error, isBusy } = useAction();
  const [seconds, setSeconds] = useState('');
  const advance = (ms: number) => run(() => ask('POST', '/clock', { advance: ms }));
  return (
    <Card title="Clock">
      <p class="clock" aria-live="polite">
        <strong id="clock">{emulatorTime.value === '' ? '–' : dateAndTime(emulatorTime.value)}</strong>{' '}
        <span class="soft">UTC, when this page was last updated</span>
      </p>
      <Form onSubmit={() => advance(Number(seconds) * 1000)}>
        {STEPS.map(({ label, ms }) => (
          <Button key={label} onClick={() => advance(ms)} isDisabled={isBusy}>
            + {label}
          </Button>
        ))}
        <Field label="Seconds" type="number" min={0} step="any" value={seconds} onInput={setSeconds} isRequired />
        <Button type="submit" isDisabled={isBusy}>
          Advance
        </Button>
      </Form>
      <p class="soft">
        Rate limit windows end, keys expire, and a new month of usage can start. A snapshot or a reset puts the clock
        back.
      </p>
      <ErrorLine>{error}</ErrorLine>
    </Card>
  );
}

function SnapshotCard() {
  const { run, error, isBusy } = useAction();
  const [status, setStatus] = useState('');
  const [name, setName] = useState('');
  const { data, reload } = useLoaded('/snapshots', () => ask<SnapshotInfo[]>('GET', '/snapshots'), ['everything']);
  const pathOf = (given: string): string => `/snapshots/${encodeURIComponent(given)}`;
  const keep = () =>
    run(async () => {
      await ask('PUT', pathOf(name));
      setStatus(`Kept ${name}.`);
      setName('');
      await reload();
    });
  const restore = (given: string) =>
    run(async () => {
      await ask('POST', `${pathOf(given)}/restore`);
      setStatus(`Restored ${given}.`);
    });
  const remove = (given: string) =>
    run(async () => {
      await ask('DELETE', pathOf(given));
      await reload();
    });
  const save = () =>
    run(async () =>
      saveFile('emulator-state.json', JSON.stringify(await ask<EmulatorState>('GET', '/state'), null, 2)),
    );
  const load = (file: File | undefined) =>
    run(async () => {
      if (file === undefined) return;
      setStatus('');
      await ask('PUT', '/state', parsed(await file.text()));
      setStatus(`Loaded ${file.name}.`);
    });
  return (
    <Card title="Snapshot">
      <p class="soft">
        All stored data and the clock, without the request log and faults. Restoring one replaces the current data. Kept
        snapshots last until the emulator stops. A downloaded one contains hashes of the keys, and the seed of the first
        keys: anyone with the file can derive these.
      </p>
      <Form onSubmit={keep}>
        <Field
          label="Name"
          id="snapshot-name"
          value={name}
          onInput={setName}
          placeholder="before the migration"
          isRequired
        />
        <Button type="submit" kind="main" isDisabled={isBusy} id="snapshot-keep">
          Keep a snapshot
        </Button>
      </Form>
      {data !== undefined && data.length > 0 && (
        <ul class="records" id="snapshots">
          {data.map((each) => (
            <li key={each.name}>
              <span class="grow">
                <strong>{each.name}</strong>
                <small class="soft">
                  {dateAndTime(each.time)} UTC · {plural(each.conversations, 'conversation')}
                </small>
              </span>
              <Button label={`Restore ${each.name}`} isDisabled={isBusy} onClick={() => restore(each.name)}>
                Restore
              </Button>
              <ConfirmButton sure="Really delete" label={`Delete ${each.name}`} onConfirm={() => remove(each.name)}>
                Delete
              </ConfirmButton>
            </li>
          ))}
        </ul>
      )}
      <div class="form">
        <Button onClick={save} isDisabled={isBusy} id="snapshot-save">
          Download
        </Button>
        <div class="field">
          <label for="snapshot-load">Load a snapshot</label>
          <input
            id="snapshot-load"
            type="file"
            accept=".json,application/json"
            onChange={(event) => load(event.currentTarget.files?.[0])}
          />
        </div>
      </div>
      {status !== '' && <p role="status">{status}</p>}
      <ErrorLine>{error}</ErrorLine>
    </Card>
  );
}

function ResetCard() {
  const { run, error } = useAction();
  const [isDone, setDone] = useState(false);
  return (
    <Card title="Reset">
      <p class="soft">
        Restores the initial state with the same keys. Deletes conversations, memory, usage, faults and the request log.
        The clock returns to its start. Kept snapshots stay.
      </p>
      <div class="row">
        <ConfirmButton
          kind="plain"
          sure="Really reset everything"
          id="reset"
          onConfirm={async () => setDone(await run(() => ask('POST', '/reset')))}
        >
          Reset
        </ConfirmButton>
      </div>
      {isDone && <p role="status">The emulator is in its initial state.</p>}
      <ErrorLine>{error}</ErrorLine>
    </Card>
  );
}

function parsed(text: string): unknown {
  let state: unknown;
  try {
    state = JSON.parse(text);
  } catch {
    throw new Error('This file is not JSON.');
  }
  if (!(state instanceof Object && 'seed' in state)) throw new Error('This file is not a snapshot of the emulator.');
  return state;
}
