import { useSignal } from '@preact/signals';
import type { Workspace } from '../../src/index.js';
import { ActionForm, DeleteButton } from '../parts/action.js';
import { CopyButton } from '../parts/button.js';
import { Card, Title } from '../parts/card.js';
import { Field } from '../parts/field.js';
import { Item, LoadedRecords } from '../parts/records.js';
import { ask } from '../service/control.js';

/** Users with a session, and workspaces with their members. */
export function PeopleView() {
  return (
    <>
      <Title name="Users and workspaces">Who may sign in, and who shares conversations and memory.</Title>
      <div class="columns">
        <Users />
        <Workspaces />
      </div>
    </>
  );
}

function Users() {
  const name = useSignal('');
  const created = useSignal<{ token: string; userId: string } | undefined>(undefined);
  const signIn = async (): Promise<void> => {
    created.value = await ask('POST', '/sessions', name.value === '' ? {} : { userId: name.value });
    name.value = '';
  };
  return (
    <Card title="Users">
      <LoadedRecords<string> path="/users" topics={['sessions']} id="users">
        {(id) => <Item key={id} name={<code>{id}</code>} />}
      </LoadedRecords>
      <ActionForm act={signIn} button="Create a session" id="user-create">
        <Field label="User (optional)" id="user-name" of={name} placeholder="generated" />
      </ActionForm>
      {created.value !== undefined && (
        <p class="row" role="status" id="new-session">
          Session of {created.value.userId}: <code>{created.value.token}</code>
          <CopyButton text={() => created.value?.token ?? ''} />
          <span class="soft">Shown only now.</span>
        </p>
      )}
    </Card>
  );
}

function Workspaces() {
  const name = useSignal('');
  const create = async (): Promise<void> => {
    await ask('POST', '/workspaces', { id: name.value, name: name.value });
    name.value = '';
  };
  return (
    <Card title="Workspaces">
      <LoadedRecords<Workspace> path="/workspaces" topics={['workspaces']} id="workspaces" empty="None yet.">
        {(each) => <WorkspaceItem key={each.id} workspace={each} />}
      </LoadedRecords>
      <ActionForm act={create} button="Create" kind="plain" id="workspace-create">
        <Field label="Name" id="workspace-name" of={name} isRequired placeholder="team" />
      </ActionForm>
    </Card>
  );
}

function WorkspaceItem({ workspace: { id, name, members } }: { workspace: Workspace }) {
  const user = useSignal('');
  const pathOf = (member: string): string =>
    `/workspaces/${encodeURIComponent(id)}/members/${encodeURIComponent(member)}`;
  const add = async (): Promise<void> => {
    await ask('PUT', pathOf(user.value));
    user.value = '';
  };
  return (
    <Item name={<strong>{name}</strong>} note={id}>
      {members.map((member) => (
        <div class="row" key={member}>
          <code>{member}</code>
          <DeleteButton verb="Remove" name={`${member} from ${id}`} path={pathOf(member)} />
        </div>
      ))}
      <ActionForm act={add} button="Add" kind="plain">
        <Field label={`Add a user to ${name}`} of={user} isRequired placeholder="user id" />
      </ActionForm>
    </Item>
  );
}
