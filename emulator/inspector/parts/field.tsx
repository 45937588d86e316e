import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.js';

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
  /** Shows the label to screen readers only. */
  isBare?: boolean | undefined;
}

interface FieldProps extends Labelled {
  of: Value<string>;
  rows?: number;
  isFocused?: boolean;
  type?: 'text' | 'number' | 'search' | 'date' | 'datetime-local' | undefined;
  placeholder?: string | undefined;
  isRequired?: boolean | undefined;
  min?: number | undefined;
  max?: number | undefined;
  step?: string | undefined;
}

function WithLabel({
  label,
  id,
  isBare,
  isWide,
  children,
}: Labelled & { isWide?: boolean; children: (id: string) => JSX.Element }) {
  const own = useId();
  return (
    <div class={`field ${isWide ? 'wide' : ''}`}>
      <label for={id ?? own} class={isBare ? 'unseen' : ''}>
        {label}
      </label>
      {children(id ?? own)}
    </div>
  );
}

/** A labelled input for a line of text, a number or a date, or with `rows` for several lines of text. */
export function Field({ label, id, isBare, of, isRequired, type = 'text', rows, isFocused, ...rest }: FieldProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (!isFocused) return;
    area.current?.focus();
    area.current?.setSelectionRange(area.current.value.length, area.current.value.length);
  }, [isFocused]);
  const onInput = (event: { currentTarget: { value: string } }): void => {
    of.value = event.currentTarget.value;
  };
  const shared = { value: of.value, required: isRequired, onInput, ...rest };
  return (
    <WithLabel label={label} id={id} isBare={isBare} isWide={rows !== undefined}>
      {(given) =>
        rows === undefined ? (
          <input id={given} type={type} spellcheck={false} autocomplete="off" {...shared} />
        ) : (
          <textarea id={given} rows={rows} ref={area} {...shared} />
        )
      }
    </WithLabel>
  );
}

/** An option, and its label if that differs from its value. */
export type Option<T extends string> = T | readonly [value: T, label: string];

interface Choice<T extends string> extends Labelled {
  of: Value<T>;
  options: readonly Option<T>[];
}

/** A labelled select. */
export function Select<T extends string>({ label, id, isBare, of, options }: Choice<T>) {
  return (
    <WithLabel label={label} id={id} isBare={isBare}>
      {(given) => (
        <select
          id={given}
          value={of.value}
          onChange={(event) => {
            of.value = event.currentTarget.value as T; // all options are of this type
          }}
        >
          {options.map(labelled).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </WithLabel>
  );
}

/** A choice among a few visible options. */
export function Segments<T extends string>({ label, id, of, options }: Choice<T>) {
  return (
    <fieldset class="segments" id={id}>
      <legend class="unseen">{label}</legend>
      {options.map(labelled).map(([value, text]) => {
        const choose = (): void => {
          of.value = value;
        };
        return (
          <Button key={value} isPressed={value === of.value} onClick={choose}>
            {text}
          </Button>
        );
      })}
    </fieldset>
  );
}

function labelled<T extends string>(option: Option<T>): readonly [value: T, label: string] {
  return typeof option === 'string' ? [option, option] : option;
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

/** A labelled input for a file. */
export function FileField({ label, id, accept, onFile }: Labelled & { accept: string; onFile: (file: File) => void }) {
  return (
    <WithLabel label={label} id={id}>
      {(given) => (
        <input
          id={given}
          type="file"
          accept={accept}
          onChange={({ currentTarget: { files } }) => files?.[0] && onFile(files[0])}
        />
      )}
    </WithLabel>
  );
}
