import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { AnswersView } from './answers/view.js';
import { ConversationView } from './conversation/view.js';
import { ConversationsView } from './conversations/list.js';
import { NewConversationView } from './conversations/new.js';
import { FaultBanner } from './faults/banner.js';
import { FaultsView } from './faults/view.js';
import { Title } from './parts/card.js';
import { Icon, type IconName } from './parts/icon.js';
import { PlaygroundView } from './playground/view.js';
import { RequestsView } from './requests/view.js';
import { connection } from './service/live.js';
import { linkTo, replaceBy, route } from './service/router.js';
import { useLoaded } from './service/use-loaded.js';
import { ServiceView } from './tables/view.js';

interface View {
  name: string;
  title: string;
  show: (props: { id: string; part: string }) => JSX.Element;
}

/** The views in the menu. The digit keys open them in this order. */
const MENU: readonly (View & { icon: IconName })[] = [
  { name: 'conversations', title: 'Conversations', icon: 'conversations', show: ConversationsView },
  { name: 'requests', title: 'Requests', icon: 'requests', show: RequestsView },
  { name: 'playground', title: 'Playground', icon: 'playground', show: PlaygroundView },
  { name: 'faults', title: 'Faults', icon: 'faults', show: FaultsView },
  { name: 'service', title: 'Service', icon: 'service', show: ServiceView },
  { name: 'answers', title: 'Answers', icon: 'answers', show: AnswersView },
];
const HOME: View = { name: '', title: 'Inspector', show: Home };
/** They count as parts of the list. */
const OTHERS: readonly View[] = [
  { name: 'conversation', title: 'Conversation', show: ConversationView },
  { name: 'new', title: 'New conversation', show: NewConversationView },
];
const CONNECTION = { connecting: 'connecting', live: 'live', gone: 'not connected' };

/** The page: the menu, the banners, and the current view. */
export function App() {
  const isOpen = useSignal(false);
  const { view: name, id, part } = route.value;
  const close = (): void => {
    isOpen.value = false;
  };
  const view = [...MENU, ...OTHERS].find((candidate) => candidate.name === name) ?? HOME;
  useEffect(() => {
    document.title = `${view.title} · context-gateway emulator`;
    close();
    scrollTo(0, 0);
  }, [name, id]);
  useEffect(() => {
    addEventListener('keydown', goByDigit);
    return () => removeEventListener('keydown', goByDigit);
  }, []);
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <div class="layout">
        <div class={`side ${isOpen.value ? 'open' : ''}`}>
          <header class="brand">
            <span class="mark" aria-hidden="true" />
            <div class="grow">
              <strong>Inspector</strong>
              <span class={`soft connection ${connection.value}`}>{CONNECTION[connection.value]}</span>
              <code class="address" id="address" title="The base URL for your program">
                {location.origin}
              </code>
            </div>
            <button
              type="button"
              class="button menu-button"
              aria-expanded={isOpen.value}
              aria-controls="nav"
              onClick={() => {
                isOpen.value = !isOpen.value;
              }}
            >
              <Icon name={isOpen.value ? 'close' : 'menu'} />
              <span class="unseen">Menu</span>
            </button>
          </header>
          <nav id="nav" aria-label="Views">
            {MENU.map((each) => (
              <a
                key={each.name}
                href={linkTo(each.name)}
                id={`nav-${each.name}`}
                aria-current={
                  each.name === view.name || (each === MENU[0] && OTHERS.includes(view)) ? 'page' : undefined
                }
                onClick={close}
              >
                <Icon name={each.icon} />
                {each.title}
              </a>
            ))}
          </nav>
        </div>
        <div class="content">
          {connection.value === 'gone' && (
            <div class="row banner gone" role="alert">
              <p>The emulator is not responding. This page reconnects by itself.</p>
            </div>
          )}
          <FaultBanner />
          <main id="main" tabIndex={-1}>
            <view.show id={id} part={part} key={view.name === 'conversation' ? id : undefined} />
          </main>
        </div>
      </div>
    </>
  );
}

/** Leads to the conversations of an app, or to its requests if it has none. */
function Home() {
  const { data, error } = useLoaded<{ conversations: { id: string }[] }>('/search/conversations?limit=2', []);
  useEffect(() => {
    if (data === undefined && error === undefined) return;
    const hasOwn = data?.conversations.some(({ id }) => id !== SAMPLE) ?? false;
    replaceBy(hasOwn ? 'conversations' : 'requests');
  }, [data, error]);
  return <Title name="Loading…" />;
}

/** The conversation that every emulator of the command begins with. */
const SAMPLE = 'conv_sample';

function goByDigit(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
  if (event.target.matches('input, select, textarea')) return;
  const view = MENU[Number(event.key) - 1];
  if (view !== undefined) location.hash = linkTo(view.name);
}
