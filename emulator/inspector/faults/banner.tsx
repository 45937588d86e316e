import { ActionButton } from '../parts/action.js';
import { Icon } from '../parts/icon.js';
import { ask } from '../service/control.js';
import { linkTo } from '../service/router.js';
import { useLoaded } from '../service/use-loaded.js';
import { plural } from '../service/words.js';
import { ruleName, type ShownFault } from './rules.js';

/** A warning on every view while faults are active. */
export function FaultBanner() {
  const { data: rules = [] } = useLoaded<ShownFault[]>('/faults', ['faults']);
  if (rules.length === 0) return null;
  const names = rules.slice(0, SHOWN).map(ruleName).join(', ');
  return (
    <aside class="row banner warning" aria-label="Active faults">
      <Icon name="faults" />
      <p class="grow">
        <a href={linkTo('faults')}>{plural(rules.length, 'fault')} active</a>: {names}
        {rules.length > SHOWN && ', …'}
      </p>
      <ActionButton id="faults-off" act={() => ask('DELETE', '/faults')}>
        {rules.length === 1 ? 'Switch off' : 'Switch all off'}
      </ActionButton>
    </aside>
  );
}

const SHOWN = 3;
