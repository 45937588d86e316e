/** What to do when a signal is aborted, and the listener that does it. */
interface Following {
  readonly actions: Set<() => void>;
  readonly listener: () => void;
}

/** One listener for each signal, however many calls and turns share it, because platforms warn about many listeners. */
const FOLLOWING = new WeakMap<AbortSignal, Following>();

/** Calls `act` when the signal is aborted, once. The function that it returns prevents that. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  const following = FOLLOWING.get(signal) ?? follow(signal);
  const action = (): void => act(); // one function may be passed several times
  following.actions.add(action);
  return () => {
    following.actions.delete(action);
    if (following.actions.size > 0 || FOLLOWING.get(signal) !== following) return;
    signal.removeEventListener('abort', following.listener);
    FOLLOWING.delete(signal);
  };
}

function follow(signal: AbortSignal): Following {
  const actions = new Set<() => void>();
  const listener = (): void => {
    for (const action of [...actions]) if (actions.has(action)) action(); // one may end another
  };
  const following = { actions, listener };
  signal.addEventListener('abort', listener);
  FOLLOWING.set(signal, following);
  return following;
}
