/** A plugin of typedoc: a page of `docs/` is called what its first heading says, instead of by its file. */
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
