import type { APIPromise } from '../base/api-promise.js';
import type { RequestOptions, SchemaOptions } from '../transport/arguments/options.js';
import type { Transport } from '../transport/call/transport.js';
import { RECORD, RECORDS } from './records.js';
import {
  type Integration,
  type IntegrationExecuteParams,
  type IntegrationResult,
  integrationExecuteBodySchema,
} from './schemas.js';

/** The default timeout for an action (ms). */
const EXECUTION_TIMEOUT = 600_000;

/** `/v1/integrations` */
export class Integrations {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** List the integrations, and validate and type the array with `schema`. */
  list<T>(options: SchemaOptions<T>): APIPromise<T>;
  /**
   * List the connected integrations. `GET /v1/integrations`
   *
   * The fields of an integration are not documented: pass a `schema`, such as `z.array(…)`, to validate and type the
   * array. To read the object around the array, use `request`.
   */
  list(options?: RequestOptions): APIPromise<Integration[]>;
  list(options?: RequestOptions): APIPromise<Integration[]> {
    return this.#transport.request({ method: 'GET', path: '/v1/integrations' }, RECORDS, options);
  }

  /** Execute an action, and validate and type the raw response with `schema`. */
  execute<T>(integration: string, params: IntegrationExecuteParams, options: SchemaOptions<T>): APIPromise<T>;
  /**
   * Execute an action of an integration:
   * `execute('chat', { action: 'post_message', channel: '#team', text: 'Done.' })`.
   * `POST /v1/integrations/:integration/execute`
   *
   * The fields of an action and its response are not documented. All fields are sent as JSON; pass a `schema` to
   * validate and type the response. The default `timeout` is 600 s. A lost connection is not retried, because the
   * action may be done.
   *
   * @throws {RequestValidationError} when a field cannot be converted to JSON
   * @throws {NotFoundError} when the integration does not exist
   */
  execute(
    integration: string,
    params: IntegrationExecuteParams,
    options?: RequestOptions,
  ): APIPromise<IntegrationResult>;
  execute(
    integration: string,
    params: IntegrationExecuteParams,
    options?: RequestOptions,
  ): APIPromise<IntegrationResult> {
    return this.#transport.request(
      {
        method: 'POST',
        path: '/v1/integrations/{integration}/execute',
        ids: { integration },
        body: params,
        accepts: integrationExecuteBodySchema,
        timeout: EXECUTION_TIMEOUT,
      },
      RECORD,
      options,
    );
  }
}
