import type { Signal } from '@preact/signals';
import type { Overview } from '../../src/control/page/overview.js';
import { Button } from '../parts/button.js';
import { Empty, ErrorLine } from '../parts/card.js';
import { Excerpt, type Match } from '../parts/excerpt.js';
import { bound, Field } from '../parts/field.js';
import { Gauge } from '../parts/gauge.js';
import { linkTo } from '../service/router.js';
import { useLoaded } from '../service/use-loaded.js';
import { count, percent, plural } from '../service/words.js';

type FoundConversation = Overview['conversations'][number] & { match?: Match & { messageId: string; role: string } };

interface Found {
  total: number;
  /** How many conversations there are. */
  all: number;
  conversations: FoundConversation[];
}

/** The conversations that have some words, page by page, as links to a view. */
export function FoundConversations({
  search,
  view,
  size = 20,
}: {
  search: Signal<{ words: string; page: number }>;
  /** The view that a conversation is opened in. */
  view: 'conversation' | 'playground';
  size?: number;
}) {
  const { words, page } = search.value;
  const query = words.trim();
  const path = `/search/conversations?limit=${size}&offset=${page * size}&q=${encodeURIComponent(query)}`;
  // A list that vanishes until the next result arrives would move the page at each letter.
  const { data: found, error } = useLoaded<Found>(path, ['conversations/*'], { keepsLast: true });
  const pages = Math.max(1, Math.ceil((found?.total ?? 0) / size));
  const turn = (by: number) => () => {
    search.value = { words, page: page + by };
  };
  return (
    <>
      <Field
        label="Search every message, by any words"
        type="search"
        id="search"
        of={bound(words, (typed) => {
          search.value = { words: typed, page: 0 };
        })}
      />
      <ErrorLine>{error}</ErrorLine>
      {found !== undefined && found.all > 0 && (
        <p class="soft" role="status">
          {found.total === 0
            ? `No conversation matches “${query}”.`
            : `${query === '' ? '' : `${count(found.total)} of `}${plural(found.all, 'conversation')}`}
        </p>
      )}
      {found?.all === 0 && (
        <Empty>
          No conversation yet. <a href={linkTo('new')}>Paste a transcript</a>, or let your program create one with{' '}
          <code>POST /_emulator/conversations</code>.
        </Empty>
      )}
      <ul class="link-rows conversation-list">
        {found?.conversations.map((each) => (
          <Row key={each.id} each={each} view={view} />
        ))}
      </ul>
      {pages > 1 && (
        <nav class="row pager" aria-label="Pages">
          <Button onClick={turn(-1)} isDisabled={page === 0}>
            Newer
          </Button>
          <span class="soft">
            page {page + 1} of {count(pages)}
          </span>
          <Button onClick={turn(1)} isDisabled={page >= pages - 1}>
            Older
          </Button>
        </nav>
      )}
    </>
  );
}

function Row({ each, view }: { each: FoundConversation; view: string }) {
  const { id, title, messages, version, compressed, total, workspaceId, match } = each;
  const share = total > 0 && version > 0 ? compressed / total : undefined;
  return (
    <li>
      <a href={view === 'conversation' && match !== undefined ? linkTo(view, id, match.messageId) : linkTo(view, id)}>
        <span class="grow">
          <strong>{title === '' ? id : title}</strong>
          <small class="soft">
            <code>{id}</code> · {plural(messages, 'message')}
            {workspaceId !== undefined && ` · workspace ${workspaceId}`}
          </small>
          {match !== undefined && <Excerpt match={match} where={`${match.role}:`} />}
        </span>
        {share === undefined ? (
          <small class="soft">not compacted</small>
        ) : (
          <span class="mini">
            <Gauge
              shares={[{ kind: 'summary', name: 'context', value: compressed }]}
              total={total}
              label={`${count(compressed)} of ${count(total)} tokens after its last compaction`}
            />
            <small class="soft">
              v{version} left {percent(share)}
            </small>
          </span>
        )}
      </a>
    </li>
  );
}
