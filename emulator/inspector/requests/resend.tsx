import { useState } from 'preact/hooks';
import type { RequestRecord } from '../../src/http/request-log.js';
import { Button } from '../parts/button.js';
import { ErrorLine } from '../parts/card.js';
import { Field, Form, TextArea } from '../parts/field.js';
import { ask } from '../service/control.js';
import { goTo } from '../service/router.js';
import { useAction } from '../service/use-action.js';

/** A form to change a request, and to send it once more with its own key. */
export function ResendForm({ record, onClose }: { record: RequestRecord; onClose: () => void }) {
  const [method, setMethod] = useState(record.method);
  const [path, setPath] = useState(record.path);
  const [headers, setHeaders] = useState(linesOf(record.headers));
  const [body, setBody] = useState(record.body ?? '');
  const { run, error, isBusy } = useAction();
  const send = () =>
    run(async () => {
      // A body that the page cannot show is sent as it was, unless it was changed.
      const isChanged = body !== (record.body ?? '');
      const changes = { method, path, headers: headersFrom(headers), ...(isChanged && { body }) };
      const { id } = await ask<{ id: string }>(
        'POST',
        `/requests/${encodeURIComponent(record.requestId)}/resend`,
        changes,
      );
      onClose();
      goTo('requests', id);
    });
  return (
    <div class="resend">
      <Form onSubmit={send}>
        <Field label="Method" id="resend-method" value={method} onInput={setMethod} isRequired />
        <Field label="Path" id="resend-path" value={path} onInput={setPath} isRequired />
        <TextArea label="Headers" id="resend-headers" rows={4} value={headers} onInput={setHeaders} />
        <TextArea label="Body" id="resend-body" rows={8} value={body} onInput={setBody} />
        {record.isBodyCut && (
          <p class="soft">
            The log has only the first 64 KB of this body. Unless you complete it, that is what is sent.
          </p>
        )}
        <p class="soft">A value with *** stays what it was: the key is the one of the original request.</p>
        <Button type="submit" kind="main" id="resend-send" isDisabled={isBusy}>
          Send
        </Button>
        <Button kind="quiet" onClick={onClose}>
          Cancel
        </Button>
      </Form>
      <ErrorLine>{error}</ErrorLine>
    </div>
  );
}

function linesOf(headers: Record<string, string>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

function headersFrom(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      if (colon < 1) throw new Error(`A header needs a name, a colon and a value: ${line}`);
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}
