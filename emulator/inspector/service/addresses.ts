/** What the fragment of the URL names: a view, the id of what it shows, and a part of that. */
export interface Address {
  view: string;
  id: string;
  part: string;
}

/** The views. Each keeps its address from version to version. */
const VIEWS = [
  'conversations',
  'requests',
  'playground',
  'faults',
  'service',
  'answers',
  'conversation', // one of them
  'new',
];

/** What the views of earlier versions became. */
const MOVED = new Map([
  ...['memory', 'presets', 'files', 'keys', 'usage'].map((name) => [name, name] as const),
  ['people', 'users'],
  ['system', 'clock'],
]);

/** Reads a fragment. An old or unknown one leads to the nearest view; if there is none, the view is empty. */
export function addressOf(fragment: string): Address {
  const [, given = '', id = '', part = ''] = fragment.split('/').map(decoded);
  const name = given.toLowerCase();
  if (VIEWS.includes(name)) return { view: name, id, part };
  const moved = MOVED.get(name);
  if (moved !== undefined) return { view: 'service', id: moved, part: '' };
  const near = name.length < FEWEST ? undefined : VIEWS.find((view) => view.startsWith(name) || name.startsWith(view));
  return { view: near ?? '', id: '', part: '' };
}

/** Letters that name a view. */
const FEWEST = 3;

/** The fragment of a view, of what it shows, and of a part of that. */
export function fragmentOf(view: string, ...ids: readonly string[]): string {
  return `#/${[view, ...ids.map(encodeURIComponent)].join('/')}`;
}

/** A URL typed by hand may contain a lone %, which `decodeURIComponent` rejects. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
