import { signal } from '@preact/signals';

/** The URL's fragment: a view, and the id of what it shows. */
export interface Route {
  view: string;
  id: string;
}

/** The current route. */
export const route = signal<Route>(read());

addEventListener('hashchange', () => {
  route.value = read();
});

/** The link to a view. */
export function linkTo(view: string, id?: string): string {
  return id === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`;
}

/** Opens a view. */
export function goTo(view: string, id?: string): void {
  location.hash = linkTo(view, id);
}

function read(): Route {
  const [, view = '', id = ''] = location.hash.split('/');
  return { view, id: decoded(id) };
}

/** A URL typed by hand may contain a lone %, which `decodeURIComponent` rejects. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
