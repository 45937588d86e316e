import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import type { OpenApi } from '../../src/control/openapi.js';
import { ActionButton, ActionForm } from '../parts/action.js';
import { CopyButton } from '../parts/button.js';
import { bound, Field } from '../parts/field.js';
import { ask } from '../service/control.js';
import { parsedJson } from '../service/words.js';
import { bodyOf, optionalFields, type PartOperation } from './description.js';

interface OperationProps {
  operation: PartOperation;
  /** The parameters of its path that are known, such as the id of a row. */
  known?: Readonly<Record<string, string>>;
}

/** An operation as a form: its other parameters, and its body as JSON. */
export function OperationForm({
  operation,
  description,
  known = {},
  record,
  act,
}: OperationProps & {
  description: OpenApi;
  /** What it changes. */
  record?: object;
  /** What to do with the body, in place of the operation. */
  act?: (body: unknown) => Promise<unknown>;
}) {
  const { operationId, summary, method } = operation;
  const own = useId();
  // Several rows may be open.
  const id = act === undefined && Object.keys(known).length === 0 ? operationId : own;
  const first = bodyOf(operation, description, record);
  const text = useSignal(JSON.stringify(first, null, 2));
  const given = useSignal<Readonly<Record<string, string>>>({});
  const done = useSignal<{ secret?: string | undefined } | undefined>(undefined);
  const { secret } = done.value ?? {};
  const optional = optionalFields(operation, description).join(', ');
  const send = async (): Promise<void> => {
    done.value = undefined;
    const body = first === undefined ? undefined : parsedJson(text.value);
    const answer = await (act?.(body) ?? ask(method, pathOf(operation, { ...known, ...given.value }), body));
    given.value = {};
    done.value = { secret: secretIn(answer) };
  };
  return (
    <>
      <ActionForm
        act={send}
        button={record === undefined ? (summary.split(/ (?:to|from|for)\b|[,;]/, 1)[0] ?? '') : 'Save'}
        id={`${id}-send`}
      >
        {(operation.parameters ?? []).map(
          ({ name, in: place }) =>
            place === 'path' &&
            known[name] === undefined && (
              <Field
                key={name}
                label={name}
                id={`${id}-${name}`}
                required
                of={bound(given.value[name] ?? '', (value) => {
                  given.value = { ...given.value, [name]: value };
                })}
              />
            ),
        )}
        {first !== undefined && (
          <Field label={`${summary}: JSON`} id={`${id}-json`} rows={linesOf(text.value)} of={text} />
        )}
        {optional !== '' && <p class="soft">Optional: {optional}.</p>}
      </ActionForm>
      {done.value !== undefined && (
        <p class="row" role="status" id={`${id}-done`}>
          {secret === undefined ? 'Done.' : 'Copy it now, it is shown only once: '}
          {secret !== undefined && <code id="new-secret">{secret}</code>}
          {secret !== undefined && <CopyButton text={() => secret} id="copy" />}
        </p>
      )}
    </>
  );
}

/** An operation that needs no input, as a button. */
export function OperationButton({ operation, known = {}, name }: OperationProps & { name: string }) {
  const verb = verbOf(operation);
  const act = () => ask(operation.method, pathOf(operation, known));
  const sure = operation.method === 'DELETE' ? { sure: `Really ${verb.toLowerCase()}` } : {};
  return (
    <ActionButton kind="quiet" label={`${verb} ${name}`} act={act} {...sure}>
      {verb}
    </ActionButton>
  );
}

/** Whether a form has anything to fill in. */
export function needsInput({ requestBody, parameters = [] }: PartOperation, known: object): boolean {
  return requestBody !== undefined || parameters.some((each) => each.in === 'path' && !Object.hasOwn(known, each.name));
}

export function pathOf({ path }: PartOperation, values: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name] ?? ''));
}

/** `Delete` for `Delete a preset` */
function verbOf({ summary }: PartOperation): string {
  return summary.split(' ', 1)[0] ?? summary;
}

function secretIn(answer: unknown): string | undefined {
  const { key, token }: { key?: unknown; token?: unknown } = Object(answer);
  // A memory item has a key, too.
  return [key, token].map(String).find((text) => /^(?:svc_[sp]k|session)_/.test(text));
}

function linesOf(text: string | undefined): number {
  return Math.min(16, Math.max(3, (text ?? '').split('\n').length));
}
