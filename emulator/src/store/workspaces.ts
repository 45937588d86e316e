import * as z from 'zod/mini';
import { exact, id, namedObject, text } from '../base/fields.js';
import type { IdSource } from './random.js';
import { type Collection, checkedId, type Storage } from './storage.js';

/** A workspace and the users who may access it. */
export interface Workspace {
  id: string;
  name: string;
  members: string[];
}

export const workspaceRecord = exact<Workspace>()(
  namedObject('Workspace', { id, name: z.string(), members: z.array(id) }),
);

/** A workspace to create. */
export interface WorkspaceInput {
  id?: string | undefined;
  name?: string | undefined;
  /** User ids. @default the user of `emulator.sessionToken` */
  members?: readonly string[] | undefined;
}

export const workspaceInput = exact<WorkspaceInput>()(
  z.object({
    id: z.optional(text),
    name: z.optional(z.string()),
    members: z.optional(z.readonly(z.array(text))),
  }),
);

/** The workspaces of the account. */
export class Workspaces {
  readonly #records: Collection<Workspace>;
  readonly #ids: IdSource;
  readonly #defaultUser: () => string;

  constructor(storage: Storage, ids: IdSource, defaultUser: () => string) {
    this.#records = storage.collection('workspaces');
    this.#ids = ids;
    this.#defaultUser = defaultUser;
  }

  /** Creates a workspace. */
  create(input: WorkspaceInput = {}): Workspace {
    const id = checkedId('workspace', input.id ?? this.#ids.next('ws'));
    if (this.#records.get(id) !== undefined) throw new RangeError(`workspace ${id} already exists`);
    const members = [...(input.members ?? [this.#defaultUser()])].map((member) => checkedId('user', member));
    const workspace = { id, name: input.name ?? id, members };
    this.#records.set(id, workspace);
    return structuredClone(workspace);
  }

  /** A workspace with its members. */
  get(id: string): Workspace | undefined {
    return structuredClone(this.#records.get(id));
  }

  /** All workspaces with their members. */
  list(): Workspace[] {
    return [...this.#records.values()].map((workspace) => structuredClone(workspace));
  }

  /** Gives a user access to a workspace. */
  addMember(id: string, userId: string): void {
    const workspace = this.#existing(id);
    if (workspace.members.includes(userId)) return;
    this.#records.set(id, { ...workspace, members: [...workspace.members, checkedId('user', userId)] });
  }

  /** Removes a user's access to a workspace. */
  removeMember(id: string, userId: string): void {
    const workspace = this.#existing(id);
    this.#records.set(id, { ...workspace, members: workspace.members.filter((member) => member !== userId) });
  }

  /** Whether a user has access to a workspace. */
  hasMember(id: string, userId: string): boolean {
    return this.#records.get(id)?.members.includes(userId) ?? false;
  }

  #existing(id: string): Workspace {
    const workspace = this.#records.get(id);
    if (workspace === undefined) throw new RangeError(`there is no workspace ${id}`);
    return workspace;
  }
}
