import type { Integration, IntegrationExecution, Preset } from '../../src/index.js';
import { DeleteButton } from '../parts/action.js';
import { Card, Title } from '../parts/card.js';
import { Load } from '../parts/load.js';
import { Item, LoadedRecords, Records } from '../parts/records.js';
import { dateAndTime } from '../service/words.js';

/** Presets, integrations, and what was posted through them. */
export function PresetsView() {
  return (
    <>
      <Title name="Presets and integrations">Templates, connected services, and what was posted to them.</Title>
      <div class="columns">
        <Card title="Presets">
          <LoadedRecords<Preset> path="/presets" topics={['presets']} id="presets" empty="None.">
            {(preset) => <PresetItem key={preset.id} preset={preset} />}
          </LoadedRecords>
        </Card>
        <Card title="Integrations">
          <LoadedRecords<Integration> path="/integrations" topics={['integrations']} id="integrations" empty="None.">
            {({ id, name, actions }) => (
              <Item key={id} name={<strong>{name}</strong>} note={id}>
                {actions.map((action) => (
                  <small key={action.name} class="soft">
                    {action.name}: {action.fields.map((field) => field.name + (field.required ? '' : '?')).join(', ')}
                  </small>
                ))}
              </Item>
            )}
          </LoadedRecords>
        </Card>
      </div>
      <Card title="Posted">
        <Load<IntegrationExecution[]> path="/integrations/executions" topics={['integration-executions']}>
          {(executions) => (
            <Records of={executions.toReversed()} id="executions" empty="No action was executed yet.">
              {(execution) => <ExecutionItem key={execution.id} execution={execution} />}
            </Records>
          )}
        </Load>
      </Card>
    </>
  );
}

function PresetItem({ preset: { id, name, category, template } }: { preset: Preset }) {
  const summary = (
    <details>
      <summary>
        {name} <span class="soft">{`${id} · ${category}`}</span>
      </summary>
      <pre>{template}</pre>
    </details>
  );
  return <Item name={summary} actions={<DeleteButton name={id} path={`/presets/${encodeURIComponent(id)}`} />} />;
}

function ExecutionItem({ execution }: { execution: IntegrationExecution }) {
  const { id, integration, action, fields, executedAt } = execution;
  return (
    <Item name={<strong>{`${integration} ${action}`}</strong>} note={`${dateAndTime(executedAt)} UTC · ${id}`}>
      {Object.entries(fields).map(([name, value]) => (
        <span class="field-line" key={name}>
          <code>{name}</code> {String(value)}
        </span>
      ))}
    </Item>
  );
}
