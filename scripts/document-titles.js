/** A TypeDoc plugin that titles the pages of `docs/` by their first heading instead of their file name. */
import { Converter } from 'typedoc';

export function load({ converter }) {
  converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => {
    const [start] = document.content;
    const heading = /^# (.+)\n+/.exec(start?.text ?? '');
    if (heading === null) return;
    document.name = heading[1];
    start.text = start.text.slice(heading[0].length);
  });
}
