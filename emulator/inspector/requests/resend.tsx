import { useSignal } from '@preact/signals';
import type { RequestRecord } from '../../src/http/log/request-record.js';
import { ActionForm } from '../parts/action.js';
import { Field } from '../parts/field.js';
import { ask } from '../service/control.js';
import { goTo } from '../service/router.js';
import { parsedJson } from '../service/words.js';

/** A form to change a request as JSON, and to send it once more with its own key. */
export function ResendForm({ record }: { record: RequestRecord }) {
  const { requestId, method, path, headers, body = '', isBodyCut } = record;
  const json = jsonOrText(body);
  const text = useSignal(JSON.stringify({ method, path, headers, body: json }, null, 2));
  const send = async (): Promise<void> => {
    const { body: changed, ...others } = Object(parsedJson(text.value));
    // A body that the page cannot show is sent as it was, unless it was changed.
    const isChanged = JSON.stringify(changed) !== JSON.stringify(json);
    const { id } = await ask<{ id: string }>('POST', `/requests/${encodeURIComponent(requestId)}/resend`, {
      ...others,
      ...(isChanged && { body: typeof changed === 'string' ? changed : JSON.stringify(changed) }),
    });
    goTo('requests', id, requestId);
  };
  return (
    <ActionForm act={send} button="Send" id="resend-send">
      <Field label="Request as JSON" id="resend-json" rows={12} of={text} />
      <p class="soft">
        {isBodyCut && 'The log has only the first 64 KB of this body. If you change it, that is what is sent. '}A value
        with *** stays what it was: the key is the one of the original request.
      </p>
    </ActionForm>
  );
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
