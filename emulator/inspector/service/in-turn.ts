/** The work, one at a time: called while it runs, it runs once more afterwards. */
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
