import { Card, ErrorLine, Title } from '../parts/card.js';
import { ask } from '../service/control.js';
import { useAction } from '../service/use-action.js';
import { useLoaded } from '../service/use-loaded.js';
import { part } from '../tables/description.js';
import { PartCards } from '../tables/part.js';
import { ALWAYS, activeRule, type FaultSwitch, type ShownFault, SWITCHES } from './rules.js';

const PART = part('faults', 'Faults');

/** Switches for common faults, and all rules. */
export function FaultsView() {
  const { data: rules, error } = useLoaded<ShownFault[]>('/faults', ['faults']);
  return (
    <>
      <Title name="Faults">Break the service on purpose and watch how your program reacts.</Title>
      <ErrorLine>{error}</ErrorLine>
      {/* A switch whose fault is not known yet would add it a second time. */}
      {rules !== undefined && (
        <Card title="Usual faults">
          <ul class="switches">
            {SWITCHES.map((each) => (
              <FaultSwitchRow key={each.name} each={each} active={activeRule(rules, each)} />
            ))}
          </ul>
        </Card>
      )}
      <PartCards part={PART} />
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
