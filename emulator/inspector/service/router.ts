import { signal } from '@preact/signals';
import { type Address, addressOf, fragmentOf } from './addresses.js';

/** The link to a view, to what it shows, and to a part of that. */
export const linkTo = fragmentOf;

/** The current address. */
export const route = signal(read());

addEventListener('hashchange', () => {
  route.value = read();
});

/** Opens a view. */
export function goTo(view: string, ...ids: readonly string[]): void {
  location.hash = linkTo(view, ...ids);
}

/** Shows a view in place of the current one, which the button Back then leaves out. */
export function replaceBy(view: string): void {
  history.replaceState(null, '', linkTo(view));
  route.value = read();
}

/** The address of the view that an old or unknown one leads to takes its place. */
function read(): Address {
  const address = addressOf(location.hash);
  const { view, id, part } = address;
  const ids = [id, part].filter((one) => one !== '');
  if (location.hash !== '') history.replaceState(null, '', view === '' ? '#/' : linkTo(view, ...ids));
  return address;
}
