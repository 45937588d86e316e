import * as z from 'zod/mini';
import type { Clock } from '../base/clock.js';
import { badRequest, notFound } from '../base/errors.js';
import { exact, label, namedObject, text, time } from '../base/fields.js';
import { mention } from '../base/mention.js';
import type { IdSource } from './random.js';
import { type Collection, checkedId, type Storage } from './storage.js';

const fieldType = z.enum(['string', 'number', 'boolean']);
/** A field of an action. */
export interface IntegrationField {
  name: string;
  type: 'string' | 'number' | 'boolean';
  required: boolean;
}

const integrationField = exact<IntegrationField>()(z.object({ name: label, type: fieldType, required: z.boolean() }));

/** An action of an integration. */
export interface IntegrationAction {
  name: string;
  description: string;
  fields: IntegrationField[];
}

const integrationAction = exact<IntegrationAction>()(
  z.object({ name: label, description: z.string(), fields: z.array(integrationField) }),
);

/** A connected integration (A3). */
export interface Integration {
  id: string;
  object: 'integration';
  name: string;
  connected: boolean;
  actions: IntegrationAction[];
}

export const integrationRecord = exact<Integration>()(
  namedObject('Integration', {
    id: label,
    object: z.literal('integration'),
    name: z.string(),
    connected: z.boolean(),
    actions: z.array(integrationAction),
  }),
);

/** An integration to create. */
export interface IntegrationInput {
  id: string;
  /** @default the id */
  name?: string | undefined;
  actions: readonly {
    name: string;
    description?: string | undefined;
    fields?:
      | readonly {
          name: string;
          /** @default 'string' */
          type?: IntegrationField['type'] | undefined;
          /** @default true */
          required?: boolean | undefined;
        }[]
      | undefined;
  }[];
}

export const integrationInput = exact<IntegrationInput>()(
  z.object({
    id: text,
    name: z.optional(text),
    actions: z.readonly(
      z.array(
        z.object({
          name: text,
          description: z.optional(z.string()),
          fields: z.optional(
            z.readonly(
              z.array(
                z.object({
                  name: text,
                  type: z.optional(fieldType),
                  required: z.optional(z.boolean()),
                }),
              ),
            ),
          ),
        }),
      ),
    ),
  }),
);

const fieldValues = z.record(label, z.union([z.string(), z.number(), z.boolean()]));

/** An executed action. */
export interface IntegrationExecution {
  id: string;
  integration: string;
  action: string;
  /** The fields as they were sent. */
  fields: Record<string, string | number | boolean>;
  executedAt: string;
}

export const executionRecord = exact<IntegrationExecution>()(
  z.object({
    id: label,
    integration: label,
    action: label,
    fields: fieldValues,
    executedAt: time,
  }),
);

/** The result of an action, as the Gateway returns it (A3). */
export interface IntegrationResult {
  id: string;
  object: 'integration.execution';
  integration: string;
  action: string;
  status: 'completed';
  /** The created object: for a posted message its id, channel, text and time. */
  result: Record<string, string | number | boolean>;
  created_at: string;
}

export const integrationResult = exact<IntegrationResult>()(
  namedObject('IntegrationExecution', {
    id: label,
    object: z.literal('integration.execution'),
    integration: label,
    action: label,
    status: z.literal('completed'),
    result: fieldValues,
    created_at: time,
  }),
);

/** Connected integrations, and the actions they executed. */
export class Integrations {
  readonly #records: Collection<Integration>;
  readonly #executions: Collection<IntegrationExecution>;
  readonly #ids: IdSource;
  readonly #clock: Clock;

  constructor(storage: Storage, ids: IdSource, clock: Clock) {
    this.#records = storage.collection('integrations');
    this.#executions = storage.collection('integration-executions');
    this.#ids = ids;
    this.#clock = clock;
  }

  /** Connects an integration. */
  create({ id, name = id, actions }: IntegrationInput): Integration {
    if (this.get(checkedId('integration', id)) !== undefined) throw new RangeError(`integration ${id} already exists`);
    const integration: Integration = {
      id,
      object: 'integration',
      name,
      connected: true,
      actions: actions.map(({ name, description = '', fields = [] }) => ({
        name,
        description,
        fields: fields.map(({ name, type = 'string', required = true }) => ({ name, type, required })),
      })),
    };
    this.#records.set(id, integration);
    return structuredClone(integration);
  }

  /**
   * Removes an integration that you created. Its executed actions stay. Returns false if there is no such integration.
   */
  delete(id: string): boolean {
    return this.#records.delete(id);
  }

  /** An integration with its actions. */
  get(id: string): Integration | undefined {
    return this.list().find((integration) => integration.id === id);
  }

  /** The built-in integrations, and those you created. */
  list(): Integration[] {
    return structuredClone([...INTEGRATIONS, ...this.#records.values()]);
  }

  /** All executed actions, oldest first. */
  executions(): IntegrationExecution[] {
    return [...this.#executions.values()].map((execution) => structuredClone(execution));
  }

  /** All posted messages, oldest first. */
  postedMessages(): { id: string; integration: string; channel: string; text: string; postedAt: string }[] {
    return this.executions()
      .filter((execution) => execution.action === 'post_message')
      .map(({ id, integration, fields, executedAt }) => ({
        id,
        integration,
        channel: String(fields.channel),
        text: String(fields.text),
        postedAt: executedAt,
      }));
  }

  /** @internal Checks the fields against the declaration of the action, and stores the execution. */
  execute(integrationId: string, body: Map<string, unknown>, strict = false): IntegrationResult {
    const integration = this.get(integrationId);
    if (integration === undefined)
      throw notFound('integration', `There is no integration ${mention(integrationId)}`, 'integration_not_found');
    const name = body.get('action');
    if (typeof name !== 'string' || name === '')
      throw badRequest('action', 'action is required and must be a string', 'missing_parameter');
    const action = integration.actions.find((candidate) => candidate.name === name);
    if (action === undefined) {
      const known = integration.actions.map((candidate) => mention(candidate.name)).join(', ');
      throw badRequest(
        'action',
        `${mention(integration.id)} has no such action; its actions are ${known}`,
        'unknown_action',
      );
    }
    const known = new Set(['action', ...action.fields.map((field) => field.name)]);
    const unknown = strict ? [...body.keys()].find((field) => !known.has(field)) : undefined;
    if (unknown !== undefined)
      throw badRequest(unknown, `${mention(unknown)} is not a field of ${mention(action.name)}`, 'unknown_parameter');
    const fields = Object.fromEntries(checkedFields(action, body));
    const executedAt = new Date(this.#clock.now()).toISOString();
    const id = this.#ids.next('exec');
    this.#executions.set(id, { id, integration: integration.id, action: action.name, fields, executedAt });
    return {
      id,
      object: 'integration.execution',
      integration: integration.id,
      action: action.name,
      status: 'completed',
      result: { id, ...fields, created_at: executedAt },
      created_at: executedAt,
    };
  }
}

function checkedFields(action: IntegrationAction, body: Map<string, unknown>): [string, string | number | boolean][] {
  const checked: [string, string | number | boolean][] = [];
  for (const field of action.fields) {
    const value = body.get(field.name);
    if (value === undefined && !field.required) continue;
    if (value === undefined)
      throw badRequest(
        field.name,
        `${mention(field.name)} is required for ${mention(action.name)}`,
        'missing_parameter',
      );
    if (typeof value !== field.type || value === '') {
      throw badRequest(
        field.name,
        `${mention(field.name)} must be a ${field.type === 'string' ? 'non-empty string' : field.type}`,
      );
    }
    // The comparison above proves that the value is of one of these types.
    checked.push([field.name, value as string | number | boolean]);
  }
  return checked;
}

const textField = (name: string, required = true): IntegrationField => ({ name, type: 'string', required });

const INTEGRATIONS: readonly Integration[] = [
  {
    id: 'team-chat',
    object: 'integration',
    name: 'Team chat',
    connected: true,
    actions: [
      {
        name: 'post_message',
        description: 'Post a message to a channel.',
        fields: [textField('channel'), textField('text')],
      },
    ],
  },
  {
    id: 'issue-tracker',
    object: 'integration',
    name: 'Issue tracker',
    connected: true,
    actions: [
      {
        name: 'create_issue',
        description: 'Open an issue.',
        fields: [textField('title'), textField('body', false), { name: 'priority', type: 'number', required: false }],
      },
      { name: 'add_comment', description: 'Comment on an issue.', fields: [textField('issue'), textField('text')] },
    ],
  },
];
