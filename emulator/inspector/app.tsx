import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { AccountView } from './account/view.js';
import { AnswersView } from './catalog/answers.js';
import { FilesView } from './catalog/files.js';
import { PeopleView } from './catalog/people.js';
import { PresetsView } from './catalog/presets.js';
import { ConversationView } from './conversation/view.js';
import { ConversationsView } from './conversations/list.js';
import { NewConversationView } from './conversations/new.js';
import { FaultBanner } from './faults/banner.js';
import { FaultsView } from './faults/view.js';
import { MemoryView } from './memory/view.js';
import { Title } from './parts/card.js';
import { Icon, type IconName } from './parts/icon.js';
import { PlaygroundView } from './playground/view.js';
import { RequestsView } from './requests/view.js';
import { connection } from './service/live.js';
import { linkTo, route } from './service/router.js';
import { SystemView } from './system/view.js';
import { UsageView } from './usage/view.js';

interface View {
  name: string;
  title: string;
  show: (props: { id: string; part: string }) => JSX.Element;
}

/** The views in the menu. The digit keys open them in this order. */
const MENU: readonly { heading: string; views: readonly (View & { icon: IconName })[] }[] = [
  {
    heading: 'Work',
    views: [
      { name: 'conversations', title: 'Conversations', icon: 'conversations', show: ConversationsView },
      { name: 'playground', title: 'Playground', icon: 'playground', show: PlaygroundView },
      { name: 'requests', title: 'Requests', icon: 'requests', show: RequestsView },
    ],
  },
  {
    heading: 'Service',
    views: [
      { name: 'answers', title: 'Answers', icon: 'answers', show: AnswersView },
      { name: 'memory', title: 'Memory', icon: 'memory', show: MemoryView },
      { name: 'usage', title: 'Usage and limits', icon: 'usage', show: UsageView },
      { name: 'faults', title: 'Faults', icon: 'faults', show: FaultsView },
      { name: 'presets', title: 'Presets and integrations', icon: 'presets', show: PresetsView },
      { name: 'files', title: 'Files', icon: 'files', show: FilesView },
      { name: 'people', title: 'Users and workspaces', icon: 'people', show: PeopleView },
      { name: 'keys', title: 'Plan and keys', icon: 'keys', show: AccountView },
      { name: 'system', title: 'Clock and state', icon: 'system', show: SystemView },
    ],
  },
];
const OTHERS: readonly View[] = [
  { name: 'conversation', title: 'Conversation', show: ConversationView },
  { name: 'new', title: 'New conversation', show: NewConversationView },
];
const VIEWS: readonly View[] = [...MENU.flatMap(({ views }) => views), ...OTHERS];
const HOME = 'conversations';
const CONNECTION = { connecting: 'connecting', live: 'live', gone: 'not connected' };

/** The page: the menu, the banners, and the current view. */
export function App() {
  const isOpen = useSignal(false);
  const { view: name, id, part } = route.value;
  const close = (): void => {
    isOpen.value = false;
  };
  const view = VIEWS.find((candidate) => candidate.name === (name || HOME));
  useEffect(() => {
    document.title = `${view?.title ?? 'Not found'} · context-gateway emulator`;
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
            {MENU.map(({ heading, views }) => (
              <div key={heading}>
                <p class="soft nav-heading">{heading}</p>
                {views.map(({ name, title, icon }) => (
                  <a
                    key={name}
                    href={linkTo(name)}
                    id={`nav-${name}`}
                    aria-current={isShown(name) ? 'page' : undefined}
                    onClick={close}
                  >
                    <Icon name={icon} />
                    {title}
                  </a>
                ))}
              </div>
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
            {view === undefined ? (
              <Title name="Page not found">
                Choose one from the menu, or start with the <a href={linkTo(HOME)}>conversations</a>.
              </Title>
            ) : (
              <view.show id={id} part={part} key={view.name === 'conversation' ? id : undefined} />
            )}
          </main>
        </div>
      </div>
    </>
  );
}

/** Whether a menu entry is current. Single conversations count as part of the list. */
function isShown(name: string): boolean {
  const { view } = route.value;
  return name === (view || HOME) || (name === HOME && OTHERS.some((other) => other.name === view));
}

function goByDigit(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof Element)) return;
  if (event.target.matches('input, select, textarea')) return;
  const view = MENU.flatMap(({ views }) => views)[Number(event.key) - 1];
  if (view !== undefined) location.hash = linkTo(view.name);
}
