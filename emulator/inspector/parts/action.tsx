import type { ComponentChildren } from 'preact';
import { ask } from '../service/control.js';
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

/** A button that deletes something of the control plane, after a confirmation. */
export function DeleteButton({ name, path, verb = 'Delete' }: { name: string; path: string; verb?: string }) {
  return (
    <ActionButton sure={`Really ${verb.toLowerCase()}`} label={`${verb} ${name}`} act={() => ask('DELETE', path)}>
      {verb}
    </ActionButton>
  );
}

/** A form that is submitted by its button or by Enter. If that fails, the reason stands below it. */
export function ActionForm({
  act,
  button,
  children,
  more,
  ...rest
}: Pick<ButtonProps, 'id' | 'kind' | 'isDisabled'> & {
  act: () => Promise<unknown>;
  button: string;
  children: ComponentChildren;
  /** Further buttons. */
  more?: ComponentChildren;
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
        {more}
      </form>
      <ErrorLine>{error}</ErrorLine>
    </>
  );
}
