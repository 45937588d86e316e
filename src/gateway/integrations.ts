import type { APIPromise } from '../base/api-promise.js';
import { Resource } from '../call/resource.js';
import { DEFAULTS } from '../request/client-options.js';
import type { SchemaOptions } from '../request/request-options.js';
import { requiredText, wireObject } from '../validation/fields.js';
import { type OpenRecord, record, records } from './records.js';

/** A connected integration. Its fields are not documented. */
export interface Integration extends OpenRecord {}
/** The result of an integration's action. Not documented: an object or an array (check with `Array.isArray`). */
export interface IntegrationResult extends OpenRecord {}

/** Arguments of `integrations.execute`: the action and its fields. */
export interface IntegrationExecuteParams {
  /** The name of the action, such as `post_message`, which takes `channel` and `text`. */
  action: string;
  [field: string]: unknown;
}

const executeBodySchema = wireObject({ action: requiredText });

/** `/v1/integrations` */
export class Integrations extends Resource {
  /**
   * List the connected integrations. `GET /v1/integrations`
   *
   * The fields of an integration are not documented: pass a `schema`, such as `z.array(integration)`, to validate and
   * type the array. To read the object around the array, use `request`.
   *
   * @example
   * ```ts
   * for (const { id, connected } of await gateway.integrations.list()) console.log(id, connected);
   * ```
   */
  list<T = Integration[]>(options?: SchemaOptions<T>): APIPromise<T> {
    return this.transport.request({ method: 'GET', path: '/v1/integrations' }, records<T>(), options);
  }

  /**
   * Execute an action of an integration:
   * `execute('team-chat', { action: 'post_message', channel: '#team', text: 'Done.' })`.
   * `POST /v1/integrations/:integration/execute`
   *
   * The fields of an action and its response are not documented. All fields are sent as JSON; pass a `schema` to
   * validate and type the response. The default `timeout` is 600 s. A lost connection is not retried, because the
   * action may be done.
   *
   * @throws {RequestValidationError} when a field cannot be converted to JSON
   * @throws {NotFoundError} when the integration does not exist
   *
   * @example
   * ```ts
   * const message = { action: 'post_message', channel: '#team', text: 'The release is out.' };
   * const { status } = await gateway.integrations.execute('team-chat', message);
   * console.log(status);
   * ```
   */
  execute<T = IntegrationResult>(
    integration: string,
    params: IntegrationExecuteParams,
    options?: SchemaOptions<T>,
  ): APIPromise<T> {
    const path = '/v1/integrations/{integration}/execute';
    const accepts = executeBodySchema;
    return this.transport.request(
      {
        method: 'POST',
        path,
        ids: { integration },
        body: params,
        accepts,
        takesAnyField: true,
        timeout: DEFAULTS.workTimeout,
      },
      record<T>(),
      options,
    );
  }
}
