import { useState } from 'preact/hooks';
import type { MemoryType, UserMemoryItem } from '../../src/store/memory.js';
import { Button, ConfirmButton } from '../parts/button.js';
import { Card, Empty, ErrorLine, Title } from '../parts/card.js';
import { Field, Form, Select, TextArea } from '../parts/field.js';
import { ask } from '../service/control.js';
import { useAction } from '../service/use-action.js';
import { useLoaded } from '../service/use-loaded.js';
import { count } from '../service/words.js';

const MEMORY_TYPES: readonly MemoryType[] = ['preference', 'fact', 'constraint', 'definition'];

/** User memory by type, with actions to add, edit, deactivate and delete items. */
export function MemoryView() {
  const { data, error } = useLoaded('memory', () => ask<UserMemoryItem[]>('GET', '/memory'), ['memory']);
  return (
    <>
      <Title name="Memory">Memory of users and workspaces.</Title>
      <ErrorLine>{error}</ErrorLine>
      <NewItem />
      <div class="columns">
        {MEMORY_TYPES.map((type) => {
          const items = (data ?? []).filter((item) => item.type === type);
          return (
            <Card
              key={type}
              title={`${type.charAt(0).toUpperCase()}${type.slice(1)}s`}
              aside={<span class="soft">{count(items.length)}</span>}
            >
              {data !== undefined && items.length === 0 && <Empty>None.</Empty>}
              <ul class="rows">
                {items.map((item) => (
                  <Item key={item.id} item={item} />
                ))}
              </ul>
            </Card>
          );
        })}
      </div>
    </>
  );
}

function NewItem() {
  const { run, error, isBusy } = useAction();
  const [type, setType] = useState<MemoryType>('fact');
  const [key, setKey] = useState('');
  const [content, setContent] = useState('');
  const add = async (): Promise<void> => {
    if (!(await run(() => ask('POST', '/memory', { type, key, content })))) return;
    setKey('');
    setContent('');
  };
  return (
    <Card title="Add an item">
      <Form onSubmit={add}>
        <Select label="Type" id="memory-type" value={type} onChange={setType} options={MEMORY_TYPES} />
        <Field label="Key" id="memory-key" value={key} onInput={setKey} isRequired placeholder="city" />
        <Field label="Content" id="memory-content" value={content} onInput={setContent} isRequired placeholder="Oslo" />
        <Button type="submit" kind="main" id="memory-add" isDisabled={isBusy}>
          Add
        </Button>
      </Form>
      <ErrorLine>{error}</ErrorLine>
    </Card>
  );
}

function Item({ item }: { item: UserMemoryItem }) {
  const { id, key, content, isActive, workspaceId } = item;
  const { run, error } = useAction();
  const [draft, setDraft] = useState<string>();
  const change = (body: { content?: string; isActive?: boolean }) => run(() => ask('PATCH', `/memory/${id}`, body));
  const save = async (): Promise<void> => {
    if (await change({ content: draft ?? content })) setDraft(undefined);
  };
  const notes = [workspaceId && `workspace ${workspaceId}`, !isActive && 'inactive'].filter(Boolean);
  return (
    <li class={`memory-item ${isActive ? '' : 'inactive'}`}>
      <span class="grow">
        <strong>{key}</strong>
        {draft === undefined ? (
          <span class="pre">{content}</span>
        ) : (
          <TextArea label={`Content of ${key}`} isBare isFocused value={draft} onInput={setDraft} />
        )}
        {notes.length > 0 && <small class="soft">{notes.join(' · ')}</small>}
        <ErrorLine>{error}</ErrorLine>
      </span>
      <span class="row">
        {draft === undefined ? (
          <>
            <Button kind="quiet" label={`Edit ${key}`} onClick={() => setDraft(content)}>
              Edit
            </Button>
            <Button
              kind="quiet"
              label={`${isActive ? 'Deactivate' : 'Activate'} ${key}`}
              onClick={() => change({ isActive: !isActive })}
            >
              {isActive ? 'Deactivate' : 'Activate'}
            </Button>
            <ConfirmButton
              sure="Really delete"
              label={`Delete ${key}`}
              onConfirm={() => run(() => ask('DELETE', `/memory/${id}`))}
            >
              Delete
            </ConfirmButton>
          </>
        ) : (
          <>
            <Button onClick={save}>Save</Button>
            <Button kind="quiet" onClick={() => setDraft(undefined)}>
              Cancel
            </Button>
          </>
        )}
      </span>
    </li>
  );
}
