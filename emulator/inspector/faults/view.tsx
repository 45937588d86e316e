import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ActionButton, ActionForm } from '../parts/action.js';
import { Card, ErrorLine, Title } from '../parts/card.js';
import { Field, Select } from '../parts/field.js';
import { Load } from '../parts/load.js';
import { Item, Records } from '../parts/records.js';
import { ask } from '../service/control.js';
import { useAction } from '../service/use-action.js';
import { ALWAYS, activeRule, type FaultSwitch, remainingText, ruleName, type ShownFault, SWITCHES } from './rules.js';

/** Switches for common faults, a form for a single fault, and the active rules. */
export function FaultsView() {
  return (
    <>
      <Title name="Faults">Break the service on purpose and watch how your program reacts.</Title>
      {/* A switch whose fault is not known yet would add it a second time. */}
      <Load<ShownFault[]> path="/faults" topics={['faults']}>
        {(rules) => (
          <>
            {SWITCHES.map(({ group, switches }) => (
              <Card key={group} title={group}>
                <ul class="switches">
                  {switches.map((each) => (
                    <FaultSwitchRow key={each.name} each={each} active={activeRule(rules, each)} />
                  ))}
                </ul>
              </Card>
            ))}
            <SingleFault />
            <ActiveRules rules={rules} />
          </>
        )}
      </Load>
    </>
  );
}

function FaultSwitchRow({ each, active }: { each: FaultSwitch; active: ShownFault | undefined }) {
  const { run, error } = useAction();
  const flip = () =>
    run(() =>
      active === undefined
        ? ask('POST', '/faults', { ...each.rule, times: ALWAYS })
        : ask('DELETE', `/faults/${active.id}`),
    );
  return (
    <li>
      <button
        type="button"
        role="switch"
        class="switch"
        id={`fault-${each.name}`}
        aria-checked={active !== undefined}
        onClick={flip}
      >
        <span class="knob" aria-hidden="true" />
        <span>
          <strong>{each.name}</strong>
          <small class="soft">{each.note}</small>
        </span>
      </button>
      <ErrorLine>{error}</ErrorLine>
    </li>
  );
}

const KINDS = [
  { value: 'status', label: 'Status code', unit: 'Status', first: '503' },
  { value: 'reset', label: 'Break the connection', unit: undefined, first: '0' },
  { value: 'slow', label: 'Delay the response', unit: 'Milliseconds', first: '2000' },
  { value: 'cutStream', label: 'Cut the stream', unit: 'After events', first: '3' },
] as const;

function SingleFault() {
  const kind = useSignal<(typeof KINDS)[number]['value']>('status');
  const path = useSignal('/v1/*');
  const number = useSignal('503');
  const nth = useSignal('1');
  const { unit, first } = KINDS.find(({ value }) => value === kind.value) ?? KINDS[0];
  // Each kind has a number of its own.
  useEffect(() => {
    number.value = first;
  }, [first]);
  const add = () => {
    const respond = {
      status: { status: Number(number.value) },
      reset: { type: 'reset' },
      slow: { type: 'slow', delay: Number(number.value) },
      cutStream: { type: 'cutStream', afterEvents: Number(number.value) },
    }[kind.value];
    return ask('POST', '/faults', { match: { path: path.value, nth: Number(nth.value) }, respond });
  };
  return (
    <Card title="Single fault">
      <ActionForm act={add} button="Add" kind="plain" id="one-add">
        <Select label="Effect" of={kind} options={KINDS.map(({ value, label }) => [value, label] as const)} />
        {unit !== undefined && <Field label={unit} type="number" of={number} id="one-number" />}
        <Field label="Path" of={path} id="one-path" isRequired />
        <Field label="On match number" type="number" min={1} of={nth} />
      </ActionForm>
    </Card>
  );
}

function ActiveRules({ rules }: { rules: readonly ShownFault[] }) {
  const removeAll = rules.length > 0 && (
    <ActionButton kind="quiet" id="clear" act={() => ask('DELETE', '/faults')}>
      Remove all
    </ActionButton>
  );
  return (
    <Card title="Active rules" aside={removeAll}>
      <Records of={rules} empty="None. The service works normally.">
        {(rule) => (
          <Item
            key={rule.id}
            name={<strong>{ruleName(rule)}</strong>}
            note={
              <>
                {remainingText(rule)} · <code>{JSON.stringify({ match: rule.match, respond: rule.respond })}</code>
              </>
            }
            actions={
              <ActionButton
                kind="quiet"
                label={`Remove ${ruleName(rule)}`}
                act={() => ask('DELETE', `/faults/${rule.id}`)}
              >
                Remove
              </ActionButton>
            }
          />
        )}
      </Records>
    </Card>
  );
}
