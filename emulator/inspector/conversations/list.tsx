import { signal } from '@preact/signals';
import type { FoundConversations } from '../../src/control/page/conversation-search.js';
import { Button } from '../parts/button.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { Excerpt } from '../parts/excerpt.js';
import { bound, Field } from '../parts/field.js';
import { linkTo } from '../service/router.js';
import { useLoaded } from '../service/use-loaded.js';
import { count, percent, plural } from '../service/words.js';

type FoundConversation = FoundConversations['conversations'][number];

/** Module state, so that the search survives a visit to a conversation. */
const search = signal({ words: '', most: 20 });

/** The conversations that have some words, page by page. */
export function ConversationsView() {
  const { words, most } = search.value;
  const query = words.trim();
  const path = `/search/conversations?limit=${most}&q=${encodeURIComponent(query)}`;
  // A list that vanishes until the next result arrives would move the page at each letter.
  const { data: found, error } = useLoaded<FoundConversations>(path, ['conversations/*'], { keepsLast: true });
  const begin = (
    <a class="button main" href={linkTo('new')} id="new">
      New conversation
    </a>
  );
  return (
    <>
      <Title name="Conversations" actions={begin}>
        What the service stores of each, what a model gets of it, and what was lost.
      </Title>
      <Card title="Find">
        <Field
          label="Search every message, by any words"
          type="search"
          id="search"
          of={bound(words, (typed) => {
            search.value = { words: typed, most: 20 };
          })}
        />
        <ErrorLine>{error}</ErrorLine>
        {found !== undefined && <Results found={found} query={query} />}
      </Card>
    </>
  );
}

function Results({ found: { all, total, conversations }, query }: { found: FoundConversations; query: string }) {
  const showMore = (): void => {
    search.value = { ...search.value, most: Math.min(1000, 5 * search.value.most) };
  };
  if (all === 0)
    return (
      <Empty>
        No conversation yet. <a href={linkTo('new')}>Paste a transcript</a>, or let your program create one with{' '}
        <code>POST /_emulator/conversations</code>.
      </Empty>
    );
  return (
    <>
      <p class="soft" role="status">
        {total === 0
          ? `No conversation matches “${query}”.`
          : `${query === '' ? '' : `${count(total)} of `}${plural(all, 'conversation')}`}
      </p>
      <ul class="link-rows conversation-list">
        {conversations.map((each) => (
          <Row key={each.id} each={each} />
        ))}
      </ul>
      {total > conversations.length && (
        <Button id="more" onClick={showMore}>
          Show older ones
        </Button>
      )}
    </>
  );
}

function Row({ each }: { each: FoundConversation }) {
  const { id, title, messages, version, compressed, total, workspaceId, match } = each;
  const context =
    version > 0 && total > 0
      ? `after its last compaction, a model gets ${percent(compressed / total)} of its tokens`
      : 'never compacted';
  return (
    <li>
      <a href={match === undefined ? linkTo('conversation', id) : linkTo('conversation', id, match.messageId)}>
        <strong>{title === '' ? id : title}</strong>
        <small class="soft">
          <code>{id}</code> · {plural(messages, 'message')}
          {workspaceId !== undefined && ` · workspace ${workspaceId}`} · {context}
        </small>
        {match !== undefined && <Excerpt match={match} where={`${match.role}:`} />}
      </a>
    </li>
  );
}
