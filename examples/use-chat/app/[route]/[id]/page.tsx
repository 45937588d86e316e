import { Suspense } from 'react';
import { Chat } from '../../chat';
import { earlier } from '../../store';

type Props = { params: Promise<{ route: string; id: string }> };

export default function Page({ params }: Props) {
  return (
    <Suspense>
      <Stored params={params} />
    </Suspense>
  );
}

async function Stored({ params }: Props) {
  const { route, id } = await params;
  return <Chat api={`/api/${route}`} id={id} {...(await earlier(id))} />;
}
