import { useEffect, useRef, useState } from 'preact/hooks';
import { inTurn } from './in-turn.js';
import { hasTopic, onChanges } from './live.js';

/** What was loaded, or why it could not be. */
export interface Loaded<T> {
  data: T | undefined;
  error: string | undefined;
  reload: () => Promise<void>;
}

/** Data of the emulator, loaded again whenever one of the topics changes. `key` names what is loaded: another key starts anew. */
export function useLoaded<T>(key: string, load: () => Promise<T>, topics: readonly string[]): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: string }>({ key });
  const newest = useRef(async () => {});
  // What `load` and the topics depend on is in the key.
  useEffect(() => {
    let isLeft = false;
    const reload = inTurn(async () => {
      try {
        const data = await load();
        if (!isLeft) setState({ key, data });
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        if (!isLeft) setState((before) => ({ ...(before.key === key ? before : { key }), error: message }));
      }
    });
    newest.current = reload;
    void reload();
    const end = onChanges((changed) => {
      if (hasTopic(changed, topics)) void reload();
    });
    return () => {
      isLeft = true;
      end();
    };
  }, [key]);
  const isCurrent = state.key === key;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    reload: () => newest.current(),
  };
}
