/** What has a next value: an iterator, or what wraps one. */
export interface Source<T> {
  next(): Promise<IteratorResult<T, undefined>>;
}

/**
 * The values of an iterator as a stream, which reads nothing ahead. `leave` is called when the stream is cancelled: a
 * generator's own `return` would wait for the pending read.
 */
export function streamOf<T>(source: Source<T>, leave: (reason: unknown) => unknown): ReadableStream<T> {
  return new ReadableStream<T>(
    {
      async pull(controller) {
        const { value, done } = await source.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel(reason) {
        await leave(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
