import { createUIMessageStream, createUIMessageStreamResponse, UI_MESSAGE_STREAM_HEADERS } from 'ai';
import { resume, stop } from '../../../replies';
import { type ChatMessage, earlier } from '../../../store';

type Context = { params: Promise<{ id: string }> };

/** The reply that is being written, from its start, or the last one, if it has ended meanwhile. */
export async function GET(_: Request, { params }: Context): Promise<Response> {
  const { id } = await params;
  // Check here that the visitor may use the conversation.
  const running = await resume(id);
  if (running)
    return new Response(running.pipeThrough(new TextEncoderStream()), { headers: UI_MESSAGE_STREAM_HEADERS });
  const { messages } = await earlier(id);
  const last = messages.at(-1);
  return last?.role === 'assistant' ? again(last) : new Response(null, { status: 204 });
}

/** Stops the reply, and keeps its text so far. */
export async function DELETE(_: Request, { params }: Context): Promise<Response> {
  await stop((await params).id);
  return new Response(null, { status: 204 });
}

function again({ id: messageId, parts }: ChatMessage): Response {
  const stream = createUIMessageStream<ChatMessage>({
    execute: ({ writer }) => {
      writer.write({ type: 'start', messageId });
      for (const part of parts) {
        if (part.type === 'data-recalled') writer.write(part);
        if (part.type !== 'text') continue;
        writer.write({ type: 'text-start', id: '0' });
        writer.write({ type: 'text-delta', id: '0', delta: part.text });
        writer.write({ type: 'text-end', id: '0' });
      }
      writer.write({ type: 'finish' });
    },
  });
  return createUIMessageStreamResponse({ stream });
}
