import { useState } from 'preact/hooks';

/** A user's action, with its progress and error. `run` resolves to whether it succeeded. */
export function useAction() {
  const [state, setState] = useState<{ isBusy: boolean; error?: string }>({ isBusy: false });
  const run = async (work: () => Promise<unknown>): Promise<boolean> => {
    setState({ isBusy: true });
    try {
      await work();
      setState({ isBusy: false });
      return true;
    } catch (error) {
      setState({ isBusy: false, error: error instanceof Error ? error.message : String(error) });
      return false;
    }
  };
  return { ...state, run };
}
