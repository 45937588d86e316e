import { signal } from '@preact/signals';
import { Card, Title } from '../parts/card.js';
import { linkTo } from '../service/router.js';
import { FoundConversations } from './found.js';

/** Module state, so that the search survives a visit to a conversation. */
const search = signal({ words: '', page: 0 });

/** The list of conversations. */
export function ConversationsView() {
  const begin = (
    <a class="button main" href={linkTo('new')} id="new">
      New conversation
    </a>
  );
  return (
    <>
      <Title name="Conversations" actions={begin}>
        Follow a conversation, watch its context shrink, and see what was lost.
      </Title>
      <Card title="Find">
        <FoundConversations search={search} view="conversation" />
      </Card>
    </>
  );
}
