import type { Integration, IntegrationExecution, Preset } from '../../src/index.js';
import { ConfirmButton } from '../parts/button.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { ask } from '../service/control.js';
import { useAction } from '../service/use-action.js';
import { useLoaded } from '../service/use-loaded.js';
import { dateAndTime } from '../service/words.js';

/** Presets, integrations, and what was posted through them. */
export function PresetsView() {
  const { run, error } = useAction();
  const presets = useLoaded('presets', () => ask<Preset[]>('GET', '/presets'), ['presets']);
  const integrations = useLoaded('integrations', () => ask<Integration[]>('GET', '/integrations'), ['integrations']);
  const executions = useLoaded('executions', () => ask<IntegrationExecution[]>('GET', '/integrations/executions'), [
    'integration-executions',
  ]);
  return (
    <>
      <Title name="Presets and integrations">Templates, connected services, and what was posted to them.</Title>
      <ErrorLine>{error ?? presets.error ?? integrations.error ?? executions.error}</ErrorLine>
      <div class="columns">
        <Card title="Presets">
          <ul class="records" id="presets">
            {presets.data?.map(({ id, name, category, template }) => (
              <li key={id}>
                <details class="grow">
                  <summary>
                    {name} <span class="soft">{`${id} · ${category}`}</span>
                  </summary>
                  <pre>{template}</pre>
                </details>
                <ConfirmButton
                  sure="Really delete"
                  label={`Delete ${id}`}
                  onConfirm={() => run(() => ask('DELETE', `/presets/${encodeURIComponent(id)}`))}
                >
                  Delete
                </ConfirmButton>
              </li>
            ))}
          </ul>
        </Card>
        <Card title="Integrations">
          <ul class="records" id="integrations">
            {integrations.data?.map(({ id, name, actions }) => (
              <li key={id}>
                <span class="grow">
                  <strong>{name}</strong> <span class="soft">{id}</span>
                  {actions.map((action) => (
                    <small key={action.name} class="soft">
                      {action.name}: {action.fields.map((field) => field.name + (field.required ? '' : '?')).join(', ')}
                    </small>
                  ))}
                </span>
              </li>
            ))}
          </ul>
        </Card>
      </div>
      <Card title="Posted">
        {executions.data?.length === 0 && <Empty>No action was executed yet.</Empty>}
        <ul class="records" id="executions">
          {[...(executions.data ?? [])].reverse().map(({ id, integration, action, fields, executedAt }) => (
            <li key={id}>
              <span class="grow">
                <strong>{integration}</strong> {action}
                <small class="soft">
                  {dateAndTime(executedAt)} UTC · {id}
                </small>
                {Object.entries(fields).map(([name, value]) => (
                  <span class="field-line" key={name}>
                    <code>{name}</code> {String(value)}
                  </span>
                ))}
              </span>
            </li>
          ))}
        </ul>
      </Card>
    </>
  );
}
