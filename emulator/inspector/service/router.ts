import { signal } from '@preact/signals';

/** The current route, from the URL's fragment: a view, the id of what it shows, and a part of that. */
export const route = signal(read());

addEventListener('hashchange', () => {
  route.value = read();
});

/** The link to a view, to what it shows, and to a part of that. */
export function linkTo(view: string, ...ids: readonly string[]): string {
  return `#/${[view, ...ids.map(encodeURIComponent)].join('/')}`;
}

/** Opens a view. */
export function goTo(view: string, ...ids: readonly string[]): void {
  location.hash = linkTo(view, ...ids);
}

function read(): { view: string; id: string; part: string } {
  const [, view = '', id = '', part = ''] = location.hash.split('/');
  return { view, id: decoded(id), part: decoded(part) };
}

/** A URL typed by hand may contain a lone %, which `decodeURIComponent` rejects. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
