/** Wraps work so that it never runs twice at a time. A call while it runs makes it run once more afterwards. */
export function inTurn(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let isStale = false;
  const run = async (): Promise<void> => {
    do {
      isStale = false;
      await work();
    } while (isStale);
    running = undefined;
  };
  return () => {
    isStale = running !== undefined;
    running ??= run();
    return running;
  };
}
