import { useState } from 'preact/hooks';
import type { Workspace } from '../../src/index.js';
import { Button, ConfirmButton, CopyButton } from '../parts/button.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { Field, Form } from '../parts/field.js';
import { ask } from '../service/control.js';
import { useAction } from '../service/use-action.js';
import { useLoaded } from '../service/use-loaded.js';

/** Users with a session, and workspaces with their members. */
export function PeopleView() {
  const users = useLoaded('users', () => ask<string[]>('GET', '/users'), ['sessions']);
  const workspaces = useLoaded('workspaces', () => ask<Workspace[]>('GET', '/workspaces'), ['workspaces']);
  return (
    <>
      <Title name="Users and workspaces">Who may sign in, and who shares conversations and memory.</Title>
      <ErrorLine>{users.error ?? workspaces.error}</ErrorLine>
      <div class="columns">
        <Users users={users.data ?? []} />
        <Workspaces workspaces={workspaces.data} />
      </div>
    </>
  );
}

function Users({ users }: { users: readonly string[] }) {
  const { run, error, isBusy } = useAction();
  const [name, setName] = useState('');
  const [created, setCreated] = useState<{ token: string; userId: string }>();
  const signIn = () =>
    run(async () => {
      setCreated(await ask('POST', '/sessions', name === '' ? {} : { userId: name }));
      setName('');
    });
  return (
    <Card title="Users">
      <ul class="records" id="users">
        {users.map((id) => (
          <li key={id}>
            <code>{id}</code>
          </li>
        ))}
      </ul>
      <Form onSubmit={signIn}>
        <Field label="User (optional)" id="user-name" value={name} onInput={setName} placeholder="generated" />
        <Button type="submit" kind="main" id="user-create" isDisabled={isBusy}>
          Create a session
        </Button>
      </Form>
      {created !== undefined && (
        <p class="row" role="status" id="new-session">
          Session of {created.userId}: <code>{created.token}</code>
          <CopyButton text={() => created.token} />
          <span class="soft">Shown only now.</span>
        </p>
      )}
      <ErrorLine>{error}</ErrorLine>
    </Card>
  );
}

function Workspaces({ workspaces }: { workspaces: readonly Workspace[] | undefined }) {
  const { run, error, isBusy } = useAction();
  const [name, setName] = useState('');
  const create = async (): Promise<void> => {
    if (await run(() => ask('POST', '/workspaces', { id: name, name }))) setName('');
  };
  return (
    <Card title="Workspaces">
      {workspaces?.length === 0 && <Empty>None yet.</Empty>}
      <ul class="records" id="workspaces">
        {workspaces?.map((each) => (
          <WorkspaceRow key={each.id} workspace={each} />
        ))}
      </ul>
      <Form onSubmit={create}>
        <Field label="Name" id="workspace-name" value={name} onInput={setName} isRequired placeholder="team" />
        <Button type="submit" id="workspace-create" isDisabled={isBusy}>
          Create
        </Button>
      </Form>
      <ErrorLine>{error}</ErrorLine>
    </Card>
  );
}

function WorkspaceRow({ workspace: { id, name, members } }: { workspace: Workspace }) {
  const { run, error } = useAction();
  const [user, setUser] = useState('');
  const pathOf = (member: string): string =>
    `/workspaces/${encodeURIComponent(id)}/members/${encodeURIComponent(member)}`;
  const add = async (): Promise<void> => {
    if (await run(() => ask('PUT', pathOf(user)))) setUser('');
  };
  return (
    <li>
      <div class="grow">
        <strong>{name}</strong> <span class="soft">{id}</span>
        {members.map((member) => (
          <div class="row" key={member}>
            <code>{member}</code>
            <ConfirmButton
              sure="Really remove"
              label={`Remove ${member} from ${id}`}
              onConfirm={() => run(() => ask('DELETE', pathOf(member)))}
            >
              Remove
            </ConfirmButton>
          </div>
        ))}
        <Form onSubmit={add}>
          <Field label={`Add a user to ${name}`} value={user} onInput={setUser} isRequired placeholder="user id" />
          <Button type="submit">Add</Button>
        </Form>
        <ErrorLine>{error}</ErrorLine>
      </div>
    </li>
  );
}
