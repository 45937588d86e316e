import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

/** What an input shows and changes: a signal, or a part of a state. */
export interface Value<T> {
  value: T;
}

/** A part of a state as a value for an input. */
export function bound<T>(value: T, set: (value: T) => unknown): Value<T> {
  return {
    get value() {
      return value;
    },
    set value(changed) {
      set(changed);
    },
  };
}

interface Labelled {
  label: string;
  id?: string | undefined;
}

type InputProps = Pick<JSX.InputHTMLAttributes, 'type' | 'placeholder' | 'required' | 'min' | 'max' | 'step'>;

/** A labelled input for a line of text, a number or a date, or with `rows` for several lines of text. */
export function Field({ label, id, of, rows, ...rest }: Labelled & InputProps & { of: Value<string>; rows?: number }) {
  const own = useId();
  const shared = {
    id: id ?? own,
    value: of.value,
    onInput: (event: { currentTarget: { value: string } }) => {
      of.value = event.currentTarget.value;
    },
  };
  return (
    <div class={`field ${rows === undefined ? '' : 'wide'}`}>
      <label for={shared.id}>{label}</label>
      {rows === undefined ? (
        <input type="text" spellcheck={false} autocomplete="off" {...shared} {...rest} />
      ) : (
        <textarea rows={rows} placeholder={rest.placeholder} {...shared} />
      )}
    </div>
  );
}

/** An option, and its label if that differs from its value. */
type Option<T extends string> = T | readonly [value: T, label: string];
type SelectProps<T extends string> = Labelled & { of: Value<T>; options: readonly Option<T>[]; isBare?: boolean };

/** A labelled select. A bare one shows its label to screen readers only. */
export function Select<T extends string>({ label, id, isBare, of, options }: SelectProps<T>) {
  const own = useId();
  return (
    <div class="field">
      <label for={id ?? own} class={isBare ? 'unseen' : ''}>
        {label}
      </label>
      <select
        id={id ?? own}
        value={of.value}
        onChange={(event) => {
          of.value = event.currentTarget.value as T; // all options are of this type
        }}
      >
        {options.map((option) => {
          const [value, text] = typeof option === 'string' ? [option, option] : option;
          return (
            <option key={value} value={value}>
              {text}
            </option>
          );
        })}
      </select>
    </div>
  );
}

/** A labelled checkbox. */
export function Check({ id, of, children }: { id: string; of: Value<boolean>; children: ComponentChildren }) {
  return (
    <label class="check">
      <input
        type="checkbox"
        id={id}
        checked={of.value}
        onChange={(event) => {
          of.value = event.currentTarget.checked;
        }}
      />
      {children}
    </label>
  );
}

/** A labelled input for a file of JSON. */
export function FileField({ label, id, onFile }: { label: string; id: string; onFile: (file: File) => void }) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="file"
        accept=".json,application/json"
        onChange={({ currentTarget: { files } }) => files?.[0] && onFile(files[0])}
      />
    </div>
  );
}
