import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface FieldProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  id?: string | undefined;
  type?: 'text' | 'number' | 'search' | undefined;
  placeholder?: string | undefined;
  isRequired?: boolean | undefined;
  min?: number | undefined;
  max?: number | undefined;
  step?: string | undefined;
  /** Shows the label to screen readers only. */
  isBare?: boolean | undefined;
}

/** A labelled input for a line of text or a number. */
export function Field({ label, onInput, id, isBare, isRequired, type = 'text', ...rest }: FieldProps) {
  const own = useId();
  return (
    <div class="field">
      <label for={id ?? own} class={isBare ? 'unseen' : ''}>
        {label}
      </label>
      <input
        id={id ?? own}
        type={type}
        required={isRequired}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => onInput(event.currentTarget.value)}
        {...rest}
      />
    </div>
  );
}

/** A labelled input for several lines of text. */
export function TextArea({
  label,
  onInput,
  id,
  isBare,
  rows = 3,
  value,
  placeholder,
  isFocused,
}: Omit<FieldProps, 'type' | 'min' | 'max'> & { rows?: number; isFocused?: boolean }) {
  const own = useId();
  const input = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (!isFocused) return;
    input.current?.focus();
    input.current?.setSelectionRange(input.current.value.length, input.current.value.length);
  }, [isFocused]);
  return (
    <div class="field wide">
      <label for={id ?? own} class={isBare ? 'unseen' : ''}>
        {label}
      </label>
      <textarea
        ref={input}
        id={id ?? own}
        rows={rows}
        value={value}
        placeholder={placeholder}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </div>
  );
}

/** A labelled select. */
export function Select<T extends string>({
  label,
  value,
  onChange,
  options,
  id,
  isBare,
}: {
  label: string;
  value: T;
  onChange: (value: T) => void;
  options: readonly (T | { value: T; label: string })[];
  id?: string | undefined;
  isBare?: boolean | undefined;
}) {
  const own = useId();
  return (
    <div class="field">
      <label for={id ?? own} class={isBare ? 'unseen' : ''}>
        {label}
      </label>
      <select
        id={id ?? own}
        value={value}
        // All options are of this type.
        onChange={(event) => onChange(event.currentTarget.value as T)}
      >
        {options.map((option) => {
          const each = typeof option === 'string' ? { value: option, label: option } : option;
          return (
            <option key={each.value} value={each.value}>
              {each.label}
            </option>
          );
        })}
      </select>
    </div>
  );
}

/** A choice among a few visible options. */
export function Segments<T extends string>({
  label,
  value,
  onChange,
  options,
}: {
  label: string;
  value: T;
  onChange: (value: T) => void;
  options: readonly { value: T; label: string }[];
}) {
  return (
    <fieldset class="segments">
      <legend class="unseen">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}

/** A form that is submitted by its button or by Enter. */
export function Form({ onSubmit, children }: { onSubmit: () => void; children: ComponentChildren }) {
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}
