import * as z from 'zod/mini';
import { described, exact, id, label, marked, namedObject, text } from '../base/fields.js';
import type { IdSource } from './random.js';
import { type Collection, checkedId, type Storage } from './storage.js';

/** A stored template (A3). `{{input}}` in the template is replaced by the caller's input. */
export interface Preset {
  id: string;
  object: 'preset';
  name: string;
  description: string;
  category: string;
  template: string;
}

export const presetRecord = exact<Preset>()(
  namedObject('Preset', {
    id,
    object: z.literal('preset'),
    name: z.string(),
    description: z.string(),
    category: label,
    template: described('`{{input}}` is replaced by the input.', marked('template', z.string())),
  }),
);

/** A preset to create. */
export interface PresetInput {
  id?: string | undefined;
  name: string;
  template: string;
  /** @default 'general' */
  category?: string | undefined;
  description?: string | undefined;
}

export const presetInput = exact<PresetInput>()(
  z.object({
    id: z.optional(text),
    name: text,
    template: text,
    category: z.optional(text),
    description: z.optional(z.string()),
  }),
);

/** The account's presets. A new emulator has a few. */
export class Presets {
  readonly #records: Collection<Preset>;
  readonly #ids: IdSource;

  constructor(storage: Storage, ids: IdSource) {
    this.#records = storage.collection('presets');
    this.#ids = ids;
  }

  /** Creates a preset. */
  create(input: PresetInput): Preset {
    const id = checkedId('preset', input.id ?? this.#ids.next('preset'));
    if (this.#records.get(id) !== undefined) throw new RangeError(`preset ${id} already exists`);
    const { name, template, description = '', category = 'general' } = input;
    const preset: Preset = { id, object: 'preset', name, description, category, template };
    this.#records.set(id, preset);
    return { ...preset };
  }

  /** Deletes a preset. Returns false if there is no such preset. */
  delete(id: string): boolean {
    return this.#records.delete(id);
  }

  /** A preset with its template. */
  get(id: string): Preset | undefined {
    const preset = this.#records.get(id);
    return preset === undefined ? undefined : { ...preset };
  }

  /** All presets, or those of a category. */
  list(category?: string | undefined): Preset[] {
    const presets: Preset[] = [];
    for (const preset of this.#records.values()) {
      if (category === undefined || preset.category === category) presets.push({ ...preset });
    }
    return presets;
  }

  /** @internal Creates the initial presets. */
  addFirst(): void {
    for (const preset of FIRST_PRESETS) this.create(preset);
  }
}

/** Puts the input into the template. A placeholder inside the input is not replaced. */
export function fillTemplate(template: string, input: string): string {
  if (!template.includes('{{input}}')) return `${template}\n\n${input}`;
  return template.split('{{input}}').join(input);
}

const FIRST_PRESETS: readonly (PresetInput & { id: string })[] = [
  {
    id: 'summarize',
    name: 'Summarize',
    category: 'writing',
    description: 'The main points of a text.',
    template: 'Give the main points of this text.\n\n{{input}}',
  },
  {
    id: 'meeting-decisions',
    name: 'Meeting decisions',
    category: 'meetings',
    description: 'What was decided, and why.',
    template: '{{input}}\n\nWhat did we decide, and what was agreed?',
  },
  {
    id: 'meeting-actions',
    name: 'Meeting actions',
    category: 'meetings',
    description: 'Who does what, and by when.',
    template: '{{input}}\n\nWhat are the next actions, who will do them, and by when?',
  },
  {
    id: 'release-notes',
    name: 'Release notes',
    category: 'engineering',
    description: 'The changes, in terms that users understand.',
    template: 'Name the changes that users will notice.\n\n{{input}}',
  },
  {
    id: 'explain-error',
    name: 'Explain an error',
    category: 'engineering',
    description: 'What an error message says and where it comes from.',
    template: '{{input}}\n\nWhat is the error, and where does it come from?',
  },
];
