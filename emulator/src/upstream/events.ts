/** Yields the data of each server-sent event. Cancels the source when the caller stops reading. */
export async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let text = '';
  let data: string[] = [];
  const line = (content: string): string | undefined => {
    if (content !== '') {
      if (content.startsWith('data:')) data.push(content.slice(content[5] === ' ' ? 6 : 5));
      return undefined;
    }
    const event = data.length === 0 ? undefined : data.join('\n');
    data = [];
    return event;
  };
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    // A CR at the end may be the first half of a CRLF.
    const whole = text.endsWith('\r') ? text.slice(0, -1) : text;
    const lines = whole.split(/\r\n|\n|\r/);
    const rest = lines.pop() ?? '';
    text = text.slice(whole.length - rest.length);
    for (const content of lines) {
      const event = line(content);
      if (event !== undefined) yield event;
    }
  }
  for (const content of `${text}\n\n`.split(/\r\n|\n|\r/)) {
    const event = line(content);
    if (event !== undefined) yield event;
  }
}
