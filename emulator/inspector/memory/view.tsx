import { useSignal } from '@preact/signals';
import { useState } from 'preact/hooks';
import type { MemoryType, UserMemoryItem } from '../../src/store/memory.js';
import { ActionButton, ActionForm, DeleteButton } from '../parts/action.js';
import { Button } from '../parts/button.js';
import { Card, Title } from '../parts/card.js';
import { Field, Select } from '../parts/field.js';
import { Item, LoadedRecords } from '../parts/records.js';
import { ask } from '../service/control.js';

const MEMORY_TYPES: readonly MemoryType[] = ['preference', 'fact', 'constraint', 'definition'];

/** User memory, with actions to add, edit, deactivate and delete items. */
export function MemoryView() {
  const type = useSignal<MemoryType>('fact');
  const key = useSignal('');
  const content = useSignal('');
  const add = async (): Promise<void> => {
    await ask('POST', '/memory', { type: type.value, key: key.value, content: content.value });
    key.value = '';
    content.value = '';
  };
  return (
    <>
      <Title name="Memory">Memory of users and workspaces.</Title>
      <Card title="Add an item">
        <ActionForm act={add} button="Add" id="memory-add">
          <Select label="Type" id="memory-type" of={type} options={MEMORY_TYPES} />
          <Field label="Key" id="memory-key" of={key} isRequired placeholder="city" />
          <Field label="Content" id="memory-content" of={content} isRequired placeholder="Oslo" />
        </ActionForm>
      </Card>
      <Card title="Items">
        <LoadedRecords<UserMemoryItem> path="/memory" topics={['memory']} empty="None yet.">
          {(item) => <MemoryItem key={item.id} item={item} />}
        </LoadedRecords>
      </Card>
    </>
  );
}

function MemoryItem({ item: { id, type, key, content, isActive, workspaceId } }: { item: UserMemoryItem }) {
  const [isEdited, setEdited] = useState(false);
  const draft = useSignal(content);
  const change = (body: { content?: string; isActive?: boolean }) => ask('PATCH', `/memory/${id}`, body);
  const save = async (): Promise<void> => {
    await change({ content: draft.value });
    setEdited(false);
  };
  const edit = (): void => {
    draft.value = content;
    setEdited(!isEdited);
  };
  const turn = isActive ? 'Deactivate' : 'Activate';
  return (
    <Item
      kind={`memory-item ${isActive ? '' : 'inactive'}`}
      name={
        <>
          <strong>{key}</strong>{' '}
          {isEdited ? (
            <Field rows={3} label={`Content of ${key}`} isBare isFocused of={draft} />
          ) : (
            <span class="pre">{content}</span>
          )}
        </>
      }
      note={[type, workspaceId && `workspace ${workspaceId}`, !isActive && 'inactive'].filter(Boolean).join(' · ')}
      actions={
        isEdited ? (
          <>
            <ActionButton act={save}>Save</ActionButton>
            <Button kind="quiet" onClick={edit}>
              Cancel
            </Button>
          </>
        ) : (
          <>
            <Button kind="quiet" label={`Edit ${key}`} onClick={edit}>
              Edit
            </Button>
            <ActionButton kind="quiet" label={`${turn} ${key}`} act={() => change({ isActive: !isActive })}>
              {turn}
            </ActionButton>
            <DeleteButton name={key} path={`/memory/${id}`} />
          </>
        )
      }
    />
  );
}
