import { useEffect, useRef, useState } from 'preact/hooks';
import { ask } from './control.js';
import { inTurn } from './in-turn.js';
import { hasTopic, onChanges } from './live.js';

/**
 * Loads a path of the control plane, and again whenever one of the topics changes. Another path starts over, or with
 * `keepsLast` shows the last data until its own arrive; an empty one loads nothing.
 */
export function useLoaded<T>(path: string, topics: readonly string[], { keepsLast = false } = {}) {
  const [state, setState] = useState<{ path: string; data?: T; error?: string }>({ path });
  const newest = useRef(async () => {});
  // `topics` depend only on the path.
  useEffect(() => {
    if (path === '') return undefined;
    let isLeft = false;
    const reload = inTurn(async () => {
      try {
        const data = await ask<T>('GET', path);
        if (!isLeft) setState({ path, data });
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        if (!isLeft) setState((before) => ({ ...(before.path === path ? before : { path }), error: message }));
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
  }, [path]);
  const isCurrent = state.path === path || keepsLast;
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    reload: () => newest.current(),
  };
}
