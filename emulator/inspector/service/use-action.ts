import { useState } from 'preact/hooks';

/** Something a person does: whether it is under way, and why it failed. */
export interface Action {
  isBusy: boolean;
  error: string | undefined;
  /** Tells whether it worked. */
  run: (work: () => Promise<unknown>) => Promise<boolean>;
}

/** What a button does, with its error beside it. */
export function useAction(): Action {
  const [state, setState] = useState<{ isBusy: boolean; error: string | undefined }>({
    isBusy: false,
    error: undefined,
  });
  const run = async (work: () => Promise<unknown>): Promise<boolean> => {
    setState({ isBusy: true, error: undefined });
    try {
      await work();
      setState({ isBusy: false, error: undefined });
      return true;
    } catch (error) {
      setState({ isBusy: false, error: error instanceof Error ? error.message : String(error) });
      return false;
    }
  };
  return { ...state, run };
}
