/** All parts of a streamed reply. */
export async function partsOf(stream: ReadableStream<object>): Promise<{ type: string; error?: unknown }[]> {
  const parts: { type: string }[] = [];
  const reader = stream.getReader();
  for (let step = await reader.read(); !step.done; step = await reader.read())
    parts.push(step.value as { type: string }); // as all parts of the AI SDK
  return parts;
}
