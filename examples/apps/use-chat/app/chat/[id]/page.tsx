import { Chat, type ChatMessage } from '../../chat';
import { store } from '../../store';

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  const { messages = [] } = (await store.load(id)) ?? {};
  const earlier = messages.map(
    ({ id = '', role, content }): ChatMessage => ({
      id,
      role: role === 'user' ? 'user' : 'assistant',
      parts: [{ type: 'text', text: content }],
    }),
  );
  return <Chat api="/api/chat" id={id} messages={earlier} />;
}
