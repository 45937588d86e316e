import { useState } from 'preact/hooks';

/** A user's action, with its progress and error. */
export interface Action {
  isBusy: boolean;
  error: string | undefined;
  /** Resolves to whether it succeeded. */
  run: (work: () => Promise<unknown>) => Promise<boolean>;
}

/** The state of an action, for a button with an error line. */
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
