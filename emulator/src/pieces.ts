/** A body written in pieces of at most so many bytes, with a pause before each; pieces never join two chunks. */
export function inPieces(
  source: ReadableStream<Uint8Array>,
  { bytes, pause }: { bytes: number; pause?: (() => Promise<void>) | undefined },
): ReadableStream<Uint8Array> {
  const reader = source.getReader();
  let rest = new Uint8Array(0) as Uint8Array;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          if (rest.byteLength === 0) {
            const { done, value } = await reader.read();
            if (done) return controller.close();
            rest = value;
          }
          await pause?.();
          controller.enqueue(rest.subarray(0, bytes));
          rest = rest.subarray(bytes);
        } catch (error) {
          reader.cancel(error).catch(() => {});
          controller.error(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
