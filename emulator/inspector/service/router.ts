import { signal } from '@preact/signals';

/** What the part of the address after # names: a view, and what it shows. */
export interface Route {
  view: string;
  id: string;
}

/** Where the page is. */
export const route = signal<Route>(read());

addEventListener('hashchange', () => {
  route.value = read();
});

/** The link to a view. */
export function linkTo(view: string, id?: string): string {
  return id === undefined ? `#/${view}` : `#/${view}/${encodeURIComponent(id)}`;
}

/** Go to a view. */
export function goTo(view: string, id?: string): void {
  location.hash = linkTo(view, id);
}

function read(): Route {
  const [, view = '', id = ''] = location.hash.split('/');
  return { view, id: decoded(id) };
}

/** An address typed by hand may hold a lone %. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
