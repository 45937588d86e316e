import { useSignal } from '@preact/signals';
import type { OpenedCase } from '../../src/control/state/case.js';
import { ErrorLine } from '../parts/card.js';
import { Check, Field, FileField } from '../parts/field.js';
import { ask } from '../service/control.js';
import { useAction } from '../service/use-action.js';
import { parsedJson, plural } from '../service/words.js';

interface ShareProps {
  /** Which requests, as a query. */
  query: URLSearchParams;
  /** How many these are. */
  requests: number;
}

/** Saves requests with what is needed to repeat them as one file. */
export function ShareForm({ query, requests }: ShareProps) {
  const note = useSignal('');
  const hidesPrompts = useSignal(false);
  const all = new URLSearchParams(query);
  all.set('mask', hidesPrompts.value ? 'keys,prompts' : 'keys');
  const noted = note.value === '' ? '' : `&note=${encodeURIComponent(note.value)}`;
  return (
    <div class="share">
      <p class="soft">
        {plural(requests, 'request')} with the faults, the scripted replies and the state, in one file that another
        emulator opens. It has no keys.
      </p>
      <div class="form">
        <Check id="mask-prompts" of={hidesPrompts}>
          Mask prompts and replies
        </Check>
        <Field label="Note (optional)" id="case-note" of={note} placeholder="what to look at" />
        <a class="button main" id="save-case" href={`/_emulator/case?${all}${noted}`} download="case.json">
          Save a case
        </a>
        <a class="button" id="save-har" href={`/_emulator/har?${all}`} download="requests.har">
          Save as HAR
        </a>
      </div>
    </div>
  );
}

/** Opens the file of another emulator, with its faults. */
export function OpenCase() {
  const status = useSignal('');
  const { run, error } = useAction();
  const open = async (file: File): Promise<void> => {
    status.value = '';
    const given = parsedJson(await file.text(), file.name);
    const opened = await ask<OpenedCase>('POST', '/case?rearm=true', given);
    const { note = '' } = given as { note?: string }; // the emulator has checked it
    const parts = [plural(opened.requests, 'request'), plural(opened.faults, 'fault'), opened.state && 'the state'];
    status.value = `Opened ${file.name}: ${parts.filter(Boolean).join(', ')}.${note && ` Note: ${note}`}`;
  };
  return (
    <>
      <FileField
        label="Open a case: replaces the state, faults and replies"
        id="open-case"
        onFile={(file) => run(() => open(file))}
      />
      {status.value !== '' && <p role="status">{status.value}</p>}
      <ErrorLine>{error}</ErrorLine>
    </>
  );
}
