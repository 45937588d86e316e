import { useSignal } from '@preact/signals';
import type { OpenedCase } from '../../src/control/state/case.js';
import { ActionButton } from '../parts/action.js';
import { ErrorLine } from '../parts/card.js';
import { Check, Field, FileField } from '../parts/field.js';
import { ask } from '../service/control.js';
import { readJson, saveFile } from '../service/files.js';
import { useAction } from '../service/use-action.js';
import { plural } from '../service/words.js';

interface ShareProps {
  /** Which requests, as a query. */
  query: URLSearchParams;
  /** How many these are. */
  requests: number;
  /** Whether a case can be opened, too. */
  isImport?: boolean;
}

/** Saves requests with what is needed to repeat them as one file, and opens such a file. */
export function ShareForm({ query, requests, isImport }: ShareProps) {
  const note = useSignal('');
  const hidesKeys = useSignal(true);
  const hidesPrompts = useSignal(false);
  const hasState = useSignal(true);
  const repeatsFaults = useSignal(true);
  const status = useSignal('');
  const { run, error } = useAction();
  const save = (path: string, name: string) => async (): Promise<void> => {
    const mask = [hidesKeys.value && 'keys', hidesPrompts.value && 'prompts'].filter(Boolean).join(',');
    const all = new URLSearchParams(query);
    if (mask !== '') all.set('mask', mask);
    if (path === '/case') all.set('state', String(hasState.value));
    if (path === '/case' && note.value !== '') all.set('note', note.value);
    saveFile(name, JSON.stringify(await ask('GET', `${path}?${all}`), null, 2));
    status.value = `Saved ${name} with ${plural(requests, 'request')}.`;
  };
  const open = async (file: File): Promise<void> => {
    status.value = '';
    const given = await readJson(file);
    const opened = await ask<OpenedCase>('POST', `/case?rearm=${repeatsFaults.value}`, given);
    const parts = [
      plural(opened.requests, 'request'),
      opened.faults > 0 && plural(opened.faults, 'fault'),
      opened.replies > 0 && plural(opened.replies, 'script'),
      opened.state && 'the state',
    ];
    const { note: said = '' } = given as { note?: string }; // the emulator has checked it
    status.value = `Opened ${file.name}: ${parts.filter(Boolean).join(', ')}.${said === '' ? '' : ` Note: ${said}`}`;
  };
  return (
    <div class="share">
      <p class="soft">
        {plural(requests, 'request')} with the faults, the scripted replies and the state, in one file that another
        emulator opens. Keys in requests are hidden always.
      </p>
      <div class="form">
        <Check id="mask-keys" of={hidesKeys}>
          Leave keys out of the state
        </Check>
        <Check id="mask-prompts" of={hidesPrompts}>
          Mask prompts and replies
        </Check>
        <Check id="with-state" of={hasState}>
          With the state
        </Check>
        <Field label="Note (optional)" id="case-note" of={note} placeholder="what to look at" />
      </div>
      <div class="form">
        <ActionButton kind="main" id="save-case" isDisabled={requests === 0} act={save('/case', 'case.json')}>
          Save a case
        </ActionButton>
        <ActionButton id="save-har" isDisabled={requests === 0} act={save('/har', 'requests.har')}>
          Save as HAR
        </ActionButton>
        {isImport && (
          <Check id="rearm" of={repeatsFaults}>
            Opened: repeat the faults of its requests
          </Check>
        )}
        {isImport && (
          <FileField
            label="Open a case: replaces the state, faults and replies"
            id="open-case"
            accept=".json,application/json"
            onFile={(file) => run(() => open(file))}
          />
        )}
      </div>
      {status.value !== '' && <p role="status">{status.value}</p>}
      <ErrorLine>{error}</ErrorLine>
    </div>
  );
}
