import { useEffect, useRef, useState } from 'preact/hooks';
import { inTurn } from './in-turn.js';
import { hasTopic, onChanges } from './live.js';

/** The loaded data, or the reason it could not be loaded. */
export interface Loaded<T> {
  data: T | undefined;
  error: string | undefined;
  reload: () => Promise<void>;
}

/**
 * Loads data from the emulator, and reloads it when one of the topics changes. `key` identifies the data: a new key
 * starts over.
 */
export function useLoaded<T>(key: string, load: () => Promise<T>, topics: readonly string[]): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: string }>({ key });
  const newest = useRef(async () => {});
  // `load` and `topics` depend only on the key.
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
