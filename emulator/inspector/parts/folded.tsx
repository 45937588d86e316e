import { useState } from 'preact/hooks';
import { count } from '../service/words.js';
import { Button } from './button.js';

/** A text, of which a long one shows its beginning until the reader unfolds it. */
export function Folded({ text, isCode = false }: { text: string; isCode?: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const start = text.split('\n', MOST_LINES).join('\n').slice(0, MOST_CHARACTERS);
  const isLong = start.length < text.length;
  const shown = isLong && !isOpen ? `${start}…` : text;
  return (
    <>
      {isCode ? <pre>{shown}</pre> : <p class="pre">{shown}</p>}
      {isLong && (
        <Button kind="quiet" onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : `Show all ${count(text.length)} characters`}
        </Button>
      )}
    </>
  );
}

const MOST_LINES = 8;
const MOST_CHARACTERS = 600;
