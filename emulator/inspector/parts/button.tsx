import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

interface ButtonProps {
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
  children,
  sure,
  id,
  label,
  kind = 'quiet',
}: {
  onConfirm: () => void;
  children: ComponentChildren;
  /** The text of the confirmation. */
  sure: string;
  id?: string | undefined;
  label?: string | undefined;
  kind?: 'plain' | 'quiet' | undefined;
}) {
  const [asks, setAsks] = useState(false);
  useEffect(() => {
    if (!asks) return undefined;
    const timer = setTimeout(() => setAsks(false), PATIENCE);
    return () => clearTimeout(timer);
  }, [asks]);
  return (
    <Button
      kind={asks ? 'danger' : kind}
      id={id}
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
  const [status, setStatus] = useState<string>();
  useEffect(() => {
    if (status === undefined) return undefined;
    const timer = setTimeout(() => setStatus(undefined), 1500);
    return () => clearTimeout(timer);
  }, [status]);
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
