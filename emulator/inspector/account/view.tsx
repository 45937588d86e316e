import { useSignal } from '@preact/signals';
import type { Plan } from '../../src/store/account.js';
import type { ApiKeyInfo, ApiKeyKind } from '../../src/store/api-keys.js';
import { ActionForm, DeleteButton } from '../parts/action.js';
import { CopyButton } from '../parts/button.js';
import { Card, ErrorLine, Title } from '../parts/card.js';
import { bound, Field, Select } from '../parts/field.js';
import { Load } from '../parts/load.js';
import { Item, Records } from '../parts/records.js';
import { ask } from '../service/control.js';
import { emulatorTime } from '../service/live.js';
import { useAction } from '../service/use-action.js';
import { count } from '../service/words.js';

/** The plan, and the API keys. */
export function AccountView() {
  return (
    <>
      <Title name="Plan and keys">The plan of the account and its API keys.</Title>
      <Load<{ plan: Plan; plans: Plan[] }> path="/account" topics={['account']}>
        {(account) => <PlanCard {...account} />}
      </Load>
      <Load<ApiKeyInfo[]> path="/keys" topics={['api-keys']}>
        {(keys) => <KeysCard keys={keys} />}
      </Load>
    </>
  );
}

function PlanCard({ plan, plans }: { plan: Plan; plans: readonly Plan[] }) {
  const { run, error } = useAction();
  const names = plans.map(({ id }) => id);
  return (
    <Card title="Plan">
      <div class="form">
        <Select
          label="Plan"
          id="plan"
          of={bound(plan.id, (name) => run(() => ask('PUT', '/account', { plan: name })))}
          options={names.includes(plan.id) ? names : [plan.id, ...names]}
        />
        <p class="soft grow">
          {plan.gatewayAccess
            ? `${count(plan.limits.gateway)} Gateway requests a minute, ${count(plan.includedTokens)} tokens a month, ${count(plan.pricePerMonth)} USD`
            : 'No Gateway access: every /v1 call gets a 403.'}
        </p>
      </div>
      <ErrorLine>{error}</ErrorLine>
    </Card>
  );
}

/** The keys. A new one is shown in full once. */
function KeysCard({ keys }: { keys: readonly ApiKeyInfo[] }) {
  const created = useSignal<{ name: string; key: string } | undefined>(undefined);
  const name = useSignal('');
  const kind = useSignal<ApiKeyKind>('secret');
  const days = useSignal('');
  const create = async (): Promise<void> => {
    // Relative to the emulator's clock, which may differ from the system's.
    const end = Date.parse(emulatorTime.value) + Number(days.value) * 86_400_000;
    const expiresAt = days.value === '' ? undefined : new Date(end).toISOString();
    created.value = await ask('POST', '/keys', { kind: kind.value, name: name.value, expiresAt });
    name.value = '';
    days.value = '';
  };
  return (
    <>
      {created.value !== undefined && (
        <Card title={`${created.value.name}: copy it now; it is shown only once`} kind="notice">
          <p class="row" role="status">
            <code id="new-key" class="grow">
              {created.value.key}
            </code>
            <CopyButton text={() => created.value?.key ?? ''} id="copy" />
          </p>
        </Card>
      )}
      <Card title="API keys" aside={<span class="soft">{count(keys.length)}</span>}>
        <Records of={keys} id="keys">
          {(key) => <KeyItem key={key.id} info={key} />}
        </Records>
        <ActionForm act={create} button="Create a key" id="key-create">
          <Field label="Name" id="key-name" of={name} placeholder="production" isRequired />
          <Select label="Kind" id="key-kind" of={kind} options={['secret', 'publishable']} />
          <Field label="Expires after (days)" id="key-days" type="number" min={1} of={days} placeholder="never" />
        </ActionForm>
      </Card>
    </>
  );
}

function KeyItem({ info: { id, name, kind, prefix, createdAt, expiresAt } }: { info: ApiKeyInfo }) {
  const expiry = expiresAt === null ? 'does not expire' : `expires ${expiresAt.slice(0, 16).replace('T', ' ')}`;
  return (
    <Item
      name={<strong>{name}</strong>}
      note={
        <>
          <code>{prefix}…</code> · {kind} · created {createdAt.slice(0, 10)} · {expiry}
        </>
      }
      actions={<DeleteButton name={name} path={`/keys/${id}`} />}
    />
  );
}
