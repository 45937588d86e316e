import { Suspense } from 'react';
import { Chat } from '../../chat';
import { earlier } from '../../store';

type Props = { params: Promise<{ id: string }> };

export default function Page({ params }: Props) {
  return (
    <Suspense>
      <Stored params={params} />
    </Suspense>
  );
}

async function Stored({ params }: Props) {
  const { id } = await params;
  return <Chat api="/api/chat" id={id} {...(await earlier(id))} />;
}
