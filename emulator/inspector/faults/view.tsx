import { useState } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { Field, Form, Select } from '../parts/field.js';
import { ask } from '../service/control.js';
import { useAction } from '../service/use-action.js';
import { ALWAYS, activeRule, remainingText, ruleName, SWITCHES } from './rules.js';
import { activeFaults } from './store.js';

/** Switches for common faults, a form for a single fault, and the active rules. */
export function FaultsView() {
  return (
    <>
      <Title name="Faults">Break the service on purpose and watch how your program reacts.</Title>
      {SWITCHES.map(({ group, switches }) => (
        <Card key={group} title={group}>
          <ul class="switches">
            {switches.map((each) => (
              <FaultSwitchRow key={each.name} each={each} />
            ))}
          </ul>
        </Card>
      ))}
      <SingleFault />
      <ActiveRules />
    </>
  );
}

function FaultSwitchRow({ each }: { each: (typeof SWITCHES)[number]['switches'][number] }) {
  const { run, error } = useAction();
  const active = activeRule(activeFaults.value, each);
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
          <small>{each.note}</small>
        </span>
      </button>
      <ErrorLine>{error}</ErrorLine>
    </li>
  );
}

const KINDS = [
  { value: 'status', label: 'Status code' },
  { value: 'reset', label: 'Break the connection' },
  { value: 'slow', label: 'Delay the response' },
  { value: 'cutStream', label: 'Cut the stream' },
] as const;
type Kind = (typeof KINDS)[number]['value'];

function SingleFault() {
  const { run, error, isBusy } = useAction();
  const [kind, setKind] = useState<Kind>('status');
  const [path, setPath] = useState('/v1/*');
  const [number, setNumber] = useState('503');
  const [nth, setNth] = useState('1');
  const respond = {
    status: { status: Number(number) },
    reset: { type: 'reset' },
    slow: { type: 'slow', delay: Number(number) },
    cutStream: { type: 'cutStream', afterEvents: Number(number) },
  }[kind];
  const unit = { status: 'Status', reset: undefined, slow: 'Milliseconds', cutStream: 'After events' }[kind];
  const choose = (chosen: Kind): void => {
    setKind(chosen);
    setNumber({ status: '503', reset: '0', slow: '2000', cutStream: '3' }[chosen]);
  };
  return (
    <Card title="Single fault">
      <Form onSubmit={() => run(() => ask('POST', '/faults', { match: { path, nth: Number(nth) }, respond }))}>
        <Select label="Effect" value={kind} onChange={choose} options={KINDS} />
        {unit !== undefined && <Field label={unit} type="number" value={number} onInput={setNumber} id="one-number" />}
        <Field label="Path" value={path} onInput={setPath} id="one-path" isRequired />
        <Field label="On match number" type="number" min={1} value={nth} onInput={setNth} />
        <Button type="submit" id="one-add" isDisabled={isBusy}>
          Add
        </Button>
      </Form>
      <ErrorLine>{error}</ErrorLine>
    </Card>
  );
}

function ActiveRules() {
  const { run, error } = useAction();
  const rules = activeFaults.value;
  const removeAll = rules.length > 0 && (
    <Button kind="quiet" id="clear" onClick={() => run(() => ask('DELETE', '/faults'))}>
      Remove all
    </Button>
  );
  return (
    <Card title="Active rules" aside={removeAll}>
      {rules.length === 0 && <Empty>None. The service works normally.</Empty>}
      <ul class="rows">
        {rules.map((rule) => (
          <li key={rule.id}>
            <span class="grow">
              <strong>{ruleName(rule)}</strong>
              <code class="soft">{JSON.stringify({ match: rule.match, respond: rule.respond })}</code>
            </span>
            <span class="soft">{remainingText(rule)}</span>
            <Button
              kind="quiet"
              label={`Remove ${ruleName(rule)}`}
              onClick={() => run(() => ask('DELETE', `/faults/${rule.id}`))}
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
      <ErrorLine>{error}</ErrorLine>
    </Card>
  );
}
