import { CopyButton } from '../parts/button.js';
import { Card } from '../parts/card.js';
import { Code } from '../parts/code.js';
import { requests } from '../service/live.js';
import { useLoaded } from '../service/use-loaded.js';

/** How to point a program to this emulator. Shown until one has sent a request. */
export function FirstRunCard() {
  const { data } = useLoaded<Record<string, string>>('/environment', []);
  if (data === undefined || requests.value.length > 0) return null;
  const lines = (value: (text: string) => string): string =>
    Object.entries(data)
      .map(([name, text]) => `export ${name}=${name.endsWith('URL') ? location.origin : value(text)}`)
      .join('\n');
  return (
    <Card
      title="Point your program here"
      kind="notice"
      aside={
        <CopyButton text={() => lines((text) => text)} id="copy-environment">
          Copy with the keys
        </CopyButton>
      }
    >
      <p>
        The base URL is <code id="base-url">{location.origin}</code>. The SDK reads it and its keys from these
        variables:
      </p>
      <Code label="Variables" text={lines((text) => text.replace(/_[a-z0-9]+$/i, '_…'))} />
    </Card>
  );
}
