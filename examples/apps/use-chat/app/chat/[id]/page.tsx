import { Chat } from '../../chat';
import { earlier } from '../../store';

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <Chat api="/api/chat" id={id} messages={await earlier(id)} />;
}
