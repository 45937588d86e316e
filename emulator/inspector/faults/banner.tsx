import { Button } from '../parts/button.js';
import { ErrorLine } from '../parts/card.js';
import { Icon } from '../parts/icon.js';
import { ask } from '../service/control.js';
import { linkTo } from '../service/router.js';
import { useAction } from '../service/use-action.js';
import { plural } from '../service/words.js';
import { ruleName } from './rules.js';
import { activeFaults } from './store.js';

/** A warning on every view while faults are active. */
export function FaultBanner() {
  const { run, error } = useAction();
  const rules = activeFaults.value;
  if (rules.length === 0) return null;
  const names = rules.slice(0, SHOWN).map(ruleName).join(', ');
  return (
    <aside class="banner warning" aria-label="Active faults">
      <Icon name="faults" />
      <p class="grow">
        <a href={linkTo('faults')}>{plural(rules.length, 'fault')} active</a>: {names}
        {rules.length > SHOWN && ', …'}
      </p>
      <Button id="faults-off" onClick={() => run(() => ask('DELETE', '/faults'))}>
        {rules.length === 1 ? 'Switch off' : 'Switch all off'}
      </Button>
      <ErrorLine>{error}</ErrorLine>
    </aside>
  );
}

const SHOWN = 3;
