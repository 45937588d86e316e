import { useState } from 'preact/hooks';
import type { Plan } from '../../src/store/account.js';
import type { ApiKeyInfo, ApiKeyKind } from '../../src/store/api-keys.js';
import { Button, ConfirmButton, CopyButton } from '../parts/button.js';
import { Card, ErrorLine, Title } from '../parts/card.js';
import { Field, Form, Select } from '../parts/field.js';
import { ask } from '../service/control.js';
import { emulatorTime } from '../service/live.js';
import { useAction } from '../service/use-action.js';
import { useLoaded } from '../service/use-loaded.js';
import { count } from '../service/words.js';

const API_KEY_KINDS: readonly ApiKeyKind[] = ['secret', 'publishable'];

/** The plan, and the API keys. A new key is shown in full once. */
export function AccountView() {
  const [created, setCreated] = useState<{ name: string; key: string }>();
  return (
    <>
      <Title name="Plan and keys">The plan of the account and its API keys.</Title>
      <PlanCard />
      {created !== undefined && (
        <Card title={`${created.name}: copy it now; it is shown only once`} kind="notice">
          <p class="row" role="status">
            <code id="new-key" class="grow">
              {created.key}
            </code>
            <CopyButton text={() => created.key} id="copy" />
          </p>
        </Card>
      )}
      <KeysCard onCreated={setCreated} />
    </>
  );
}

function PlanCard() {
  const { data, error } = useLoaded('account', () => ask<{ plan: Plan; plans: Plan[] }>('GET', '/account'), [
    'account',
  ]);
  const { run, error: failure } = useAction();
  if (data === undefined) return <ErrorLine>{error}</ErrorLine>;
  const { plan, plans } = data;
  const names = plans.map(({ id }) => id);
  return (
    <Card title="Plan">
      <div class="form">
        <Select
          label="Plan"
          id="plan"
          value={plan.id}
          onChange={(name) => run(() => ask('PUT', '/account', { plan: name }))}
          options={names.includes(plan.id) ? names : [plan.id, ...names]}
        />
        <p class="soft grow">
          {plan.gatewayAccess
            ? `${count(plan.limits.gateway)} Gateway requests a minute, ${count(plan.includedTokens)} tokens a month, ${count(plan.pricePerMonth)} USD`
            : 'No Gateway access: every /v1 call gets a 403.'}
        </p>
      </div>
      <ErrorLine>{failure}</ErrorLine>
    </Card>
  );
}

function KeysCard({ onCreated }: { onCreated: (created: { name: string; key: string }) => void }) {
  const { data = [], error } = useLoaded('keys', () => ask<ApiKeyInfo[]>('GET', '/keys'), ['api-keys']);
  const { run, error: failure, isBusy } = useAction();
  const [name, setName] = useState('');
  const [kind, setKind] = useState<ApiKeyKind>('secret');
  const [days, setDays] = useState('');
  const create = () =>
    run(async () => {
      // Relative to the emulator's clock, which may differ from the system's.
      const expiresAt =
        days === '' ? undefined : new Date(Date.parse(emulatorTime.value) + Number(days) * 86_400_000).toISOString();
      onCreated(await ask<{ name: string; key: string }>('POST', '/keys', { kind, name, expiresAt }));
      setName('');
      setDays('');
    });
  return (
    <Card title="API keys" aside={<span class="soft">{count(data.length)}</span>}>
      <ErrorLine>{error}</ErrorLine>
      <ul class="rows" id="keys">
        {data.map((key) => (
          <KeyRow key={key.id} info={key} />
        ))}
      </ul>
      <Form onSubmit={create}>
        <Field label="Name" id="key-name" value={name} onInput={setName} placeholder="production" isRequired />
        <Select label="Kind" id="key-kind" value={kind} onChange={setKind} options={API_KEY_KINDS} />
        <Field
          label="Expires after (days)"
          id="key-days"
          type="number"
          min={1}
          value={days}
          onInput={setDays}
          placeholder="never"
        />
        <Button type="submit" kind="main" id="key-create" isDisabled={isBusy}>
          Create a key
        </Button>
      </Form>
      <ErrorLine>{failure}</ErrorLine>
    </Card>
  );
}

function KeyRow({ info }: { info: ApiKeyInfo }) {
  const { id, name, kind, prefix, createdAt, expiresAt } = info;
  const { run, error } = useAction();
  const expiry = expiresAt === null ? 'does not expire' : `expires ${expiresAt.slice(0, 16).replace('T', ' ')}`;
  return (
    <li>
      <span class="grow">
        <strong>{name}</strong>
        <small class="soft">
          <code>{prefix}…</code> · {kind} · created {createdAt.slice(0, 10)} · {expiry}
        </small>
        <ErrorLine>{error}</ErrorLine>
      </span>
      <ConfirmButton
        sure="Really delete"
        label={`Delete ${name}`}
        onConfirm={() => run(() => ask('DELETE', `/keys/${id}`))}
      >
        Delete
      </ConfirmButton>
    </li>
  );
}
