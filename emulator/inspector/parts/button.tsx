import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export interface ButtonProps {
  onClick?: (() => void) | undefined;
  children: ComponentChildren;
  /** `quiet` is for use within text, `main` for the main action of a view. */
  kind?: 'plain' | 'quiet' | 'main' | 'danger';
  type?: 'button' | 'submit';
  id?: string | undefined;
  label?: string | undefined;
  isDisabled?: boolean | undefined;
  /** While its action runs. It does nothing, but keeps the focus, unlike a disabled one. */
  isBusy?: boolean | undefined;
  isPressed?: boolean | undefined;
}

export function Button({
  kind = 'plain',
  type = 'button',
  label,
  isDisabled,
  isBusy,
  isPressed,
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      type={type}
      class={`button ${kind}`}
      disabled={isDisabled}
      aria-disabled={isBusy}
      onClick={isBusy ? undefined : onClick}
      aria-label={label}
      aria-pressed={isPressed}
      {...rest}
    />
  );
}

/** A button for actions that cannot be undone. It asks for confirmation. */
export function ConfirmButton({
  onConfirm,
  sure,
  kind = 'quiet',
  label,
  children,
  ...rest
}: Omit<ButtonProps, 'onClick'> & {
  onConfirm: () => void;
  /** The text of the confirmation. */
  sure: string;
}) {
  const [asks, setAsks] = useBriefly<boolean>(PATIENCE);
  return (
    <Button
      {...rest}
      kind={asks ? 'danger' : kind}
      label={asks ? undefined : label}
      onClick={() => {
        setAsks(!asks);
        if (asks) onConfirm();
      }}
    >
      {asks ? sure : children}
    </Button>
  );
}

/** Milliseconds until the confirmation disappears. */
const PATIENCE = 5000;

/** A button that copies a text. */
export function CopyButton({ text, children = 'Copy', id }: { text: () => string; children?: string; id?: string }) {
  const [status, setStatus] = useBriefly<string>(1500);
  const copy = (): void => {
    // Without HTTPS, browsers offer the clipboard only to pages of this machine.
    if (navigator.clipboard === undefined) setStatus('No clipboard');
    else
      navigator.clipboard.writeText(text()).then(
        () => setStatus('Copied'),
        () => setStatus('Not allowed'),
      );
  };
  return (
    <Button kind="quiet" onClick={copy} id={id}>
      <span aria-live="polite">{status ?? children}</span>
    </Button>
  );
}

/** A state that ends after some milliseconds. */
function useBriefly<T>(ms: number): [T | undefined, (value: T | undefined) => void] {
  const [value, set] = useState<T | undefined>();
  useEffect(() => {
    if (value === undefined) return undefined;
    const timer = setTimeout(() => set(undefined), ms);
    return () => clearTimeout(timer);
  }, [value]);
  return [value, set];
}
