import { useSignal } from '@preact/signals';
import type { RequestRecord } from '../../src/http/log/request-record.js';
import { ActionForm } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { Field } from '../parts/field.js';
import { ask } from '../service/control.js';
import { goTo } from '../service/router.js';

/** A form to change a request, and to send it once more with its own key. */
export function ResendForm({ record, onClose }: { record: RequestRecord; onClose: () => void }) {
  const method = useSignal(record.method);
  const path = useSignal(record.path);
  const headers = useSignal(headersText(record.headers));
  const body = useSignal(record.body ?? '');
  const send = async (): Promise<void> => {
    // A body that the page cannot show is sent as it was, unless it was changed.
    const isChanged = body.value !== (record.body ?? '');
    const { id } = await ask<{ id: string }>('POST', `/requests/${encodeURIComponent(record.requestId)}/resend`, {
      method: method.value,
      path: path.value,
      headers: headersFrom(headers.value),
      ...(isChanged && { body: body.value }),
    });
    onClose();
    goTo('requests', id, record.requestId);
  };
  return (
    <div class="resend">
      <ActionForm
        act={send}
        button="Send"
        id="resend-send"
        more={
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        }
      >
        <Field label="Method" id="resend-method" of={method} isRequired />
        <Field label="Path" id="resend-path" of={path} isRequired />
        <Field label="Headers" id="resend-headers" rows={4} of={headers} />
        <Field label="Body" id="resend-body" rows={8} of={body} />
        {record.isBodyCut && (
          <p class="soft">
            The log has only the first 64 KB of this body. Unless you complete it, that is what is sent.
          </p>
        )}
        <p class="soft">A value with *** stays what it was: the key is the one of the original request.</p>
      </ActionForm>
    </div>
  );
}

/** Headers as text, one a line. */
export function headersText(headers: Record<string, string>): string {
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
