import type { APIPromise } from '../api-promise.js';
import type { RequestOptions, SchemaOptions } from '../transport/options.js';
import type { Transport } from '../transport/transport.js';
import { RECORD, RECORDS } from './records.js';
import {
  type Integration,
  type IntegrationExecuteParams,
  type IntegrationResult,
  integrationExecuteBodySchema,
} from './schemas.js';

/** An action may take this long (ms). */
const EXECUTION_TIMEOUT = 600_000;

/** `/v1/integrations` */
export class Integrations {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The same, with the array checked and typed by `schema`. */
  list<T>(options: SchemaOptions<T>): APIPromise<T>;
  /**
   * The connected integrations. `GET /v1/integrations`
   *
   * What an integration holds is not documented (A3): pass a `schema` to have the array checked and typed, `z.array(…)`. What
   * stands around the array is read with `request`.
   */
  list(options?: RequestOptions): APIPromise<Integration[]>;
  list(options?: RequestOptions): APIPromise<Integration[]> {
    return this.#transport.request({ method: 'GET', path: '/v1/integrations' }, RECORDS, options);
  }

  /** The same, with the raw response checked and typed by `schema`. */
  execute<T>(integration: string, params: IntegrationExecuteParams, options: SchemaOptions<T>): APIPromise<T>;
  /**
   * Have an integration do something: `execute('chat', { action: 'post_message', channel: '#team', text: 'Done.' })`.
   * `POST /v1/integrations/:integration/execute`
   *
   * Which fields an action takes, and what it gives, is not documented (A3): all are sent as JSON; pass a `schema` for the
   * answer. May take 600 s unless `timeout` says otherwise. A lost connection is not tried again: the action may be done.
   *
   * @throws {RequestValidationError} when a field cannot be written as JSON
   * @throws {NotFoundError} when there is no such integration
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
