/** The body of an event stream: each event as text, produced on demand. */
export class EventBody {
  /** `stop` ends the waits of the events. */
  constructor(
    private readonly events: AsyncGenerator<string, void>,
    private readonly stop: AbortController,
  ) {}

  next(): Promise<IteratorResult<string, void>> {
    return this.events.next();
  }

  /** Ends the events early. */
  async cancel(reason?: unknown): Promise<void> {
    this.stop.abort(reason);
    // The abort may have made the generator throw. In any case its `finally` runs.
    await this.events.return().catch(() => {});
  }

  /** The same as a stream of bytes: one chunk per event. */
  stream(): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await this.next();
            if (done) controller.close();
            else controller.enqueue(encoder.encode(value));
          } catch (error) {
            controller.error(error);
          }
        },
        cancel: (reason) => this.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }
}
