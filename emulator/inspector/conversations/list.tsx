import { signal } from '@preact/signals';
import type { Overview } from '../../src/control/overview.js';
import { Button } from '../parts/button.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { Field } from '../parts/field.js';
import { Gauge } from '../parts/gauge.js';
import { ask } from '../service/control.js';
import { linkTo } from '../service/router.js';
import { useLoaded } from '../service/use-loaded.js';
import { count, percent, plural } from '../service/words.js';
import { FirstRunCard } from './first-run.js';

/** Module state, so that the search and the page survive a visit to a conversation. */
const search = signal('');
const page = signal(0);

const PAGE_SIZE = 20;

/** The list of conversations, with search and pages. */
export function ConversationsView() {
  const query = search.value.trim();
  const path = `/overview${query === '' ? '' : `?search=${encodeURIComponent(query)}`}`;
  const { data, error } = useLoaded(path, () => ask<Overview>('GET', path), ['conversations/*']);
  const found = data?.conversations ?? [];
  const pages = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const at = Math.min(page.value, pages - 1);
  const turn = (by: number) => () => {
    page.value = at + by;
  };
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
      <ErrorLine>{error}</ErrorLine>
      <FirstRunCard />
      {data?.conversationCount === 0 ? (
        <Card title="No conversation yet">
          <p>
            <a href={linkTo('new')}>Paste a transcript</a>, or let your program create one with{' '}
            <code>POST /_emulator/conversations</code>.
          </p>
        </Card>
      ) : (
        <Card title={data === undefined ? 'Loading' : plural(data.conversationCount, 'conversation')}>
          <Field
            label="Search ids and first messages"
            type="search"
            id="search"
            value={search.value}
            onInput={(value) => {
              search.value = value;
              page.value = 0;
            }}
          />
          {data !== undefined && found.length === 0 && <Empty>No conversation matches “{query}”.</Empty>}
          <ul class="conversation-list">
            {found.slice(at * PAGE_SIZE, (at + 1) * PAGE_SIZE).map((each) => (
              <Row key={each.id} each={each} />
            ))}
          </ul>
          {pages > 1 && (
            <nav class="row pager" aria-label="Pages">
              <Button onClick={turn(-1)} isDisabled={at === 0}>
                Newer
              </Button>
              <span class="soft">
                page {at + 1} of {pages}
              </span>
              <Button onClick={turn(1)} isDisabled={at === pages - 1}>
                Older
              </Button>
            </nav>
          )}
        </Card>
      )}
    </>
  );
}

function Row({ each }: { each: Overview['conversations'][number] }) {
  const { id, title, messages, version, compressed, total, workspaceId } = each;
  const share = total > 0 && version > 0 ? compressed / total : undefined;
  return (
    <li>
      <a href={linkTo('conversation', id)}>
        <span class="grow">
          <strong>{title === '' ? id : title}</strong>
          <small class="soft">
            <code>{id}</code> · {plural(messages, 'message')}
            {workspaceId !== undefined && ` · workspace ${workspaceId}`}
          </small>
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
