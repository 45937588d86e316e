import type { ComponentChildren } from 'preact';
import { useAction } from '../service/use-action.js';
import { Button, type ButtonProps, ConfirmButton } from './button.js';
import { ErrorLine } from './card.js';

/** A button whose action may fail: the reason stands beside it. With `sure`, it asks before. */
export function ActionButton({
  act,
  sure,
  ...rest
}: Omit<ButtonProps, 'onClick' | 'isBusy'> & { act: () => Promise<unknown>; sure?: string }) {
  const { run, error, isBusy } = useAction();
  return (
    <>
      {sure === undefined ? (
        <Button {...rest} isBusy={isBusy} onClick={() => run(act)} />
      ) : (
        <ConfirmButton {...rest} sure={sure} onConfirm={() => run(act)} />
      )}
      <ErrorLine>{error}</ErrorLine>
    </>
  );
}

/** A form that is submitted by its button or by Enter. If that fails, the reason stands below it. */
export function ActionForm({
  act,
  button,
  children,
  ...rest
}: Pick<ButtonProps, 'id' | 'kind' | 'isDisabled'> & {
  act: () => Promise<unknown>;
  button: string;
  children: ComponentChildren;
}) {
  const { run, error, isBusy } = useAction();
  return (
    <>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void run(act);
        }}
      >
        {children}
        <Button kind="main" {...rest} type="submit" isBusy={isBusy}>
          {button}
        </Button>
      </form>
      <ErrorLine>{error}</ErrorLine>
    </>
  );
}
