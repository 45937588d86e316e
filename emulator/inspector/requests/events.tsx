import { useState } from 'preact/hooks';
import { Code } from '../parts/code.js';
import { streamedReply } from '../service/reply.js';
import { duration, plural } from '../service/words.js';
import type { SentEvent } from './use-followed.js';

/** A stream, and when each event was sent. One that is opened while it arrives is followed at its end, with what was said so far. */
export function Events({ events, all, isLive }: { events: readonly SentEvent[]; all: number; isLive: boolean }) {
  const [follows] = useState(isLive);
  const reply = follows ? streamedReply(events) : '';
  return (
    <details open class={`stream ${follows ? 'follows' : ''}`}>
      <summary>{plural(Math.max(all, events.length), 'event')}</summary>
      {reply !== '' && <Code label="Reply so far" text={reply} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="events" tabIndex={0} aria-label="Events of the stream">
        <ol>
          {events.map(({ at, text }, i) => (
            <li key={i}>
              <time class="soft">{duration(at)}</time>
              <span class="soft">{`+${duration(at - (events[i - 1]?.at ?? 0))}`}</span>
              <code>{text.trim()}</code>
            </li>
          ))}
        </ol>
      </section>
      {all > events.length && <p class="soft">The log keeps the first 64 KB of a stream.</p>}
    </details>
  );
}
