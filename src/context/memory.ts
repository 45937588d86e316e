import type { APIPromise } from '../answer.js';
import type { RequestOptions } from '../transport/options.js';
import type { Transport } from '../transport/transport.js';
import {
  type MemoryCreateParams,
  type MemoryListParams,
  type MemoryUpdateParams,
  memoriesAnswerSchema,
  memoryAnswerSchema,
  memoryCreateBodySchema,
  memoryListQuerySchema,
  memoryUpdateBodySchema,
  NOTHING,
  type UserMemoryItem,
} from './schemas.js';

/** `/api/memory` */
export class Memory {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * What the service remembers: your own items, or those of a workspace; of one `type` or all. `GET /api/memory`
   *
   * @throws {PermissionDeniedError} when the user is not a member of the workspace
   */
  list(params?: MemoryListParams, options?: RequestOptions): APIPromise<UserMemoryItem[]> {
    return this.#transport.request(
      { method: 'GET', path: '/api/memory', query: params, accepts: memoryListQuerySchema },
      { schema: memoriesAnswerSchema, pick: ({ memories }) => memories },
      options,
    );
  }

  /**
   * Remember something. `POST /api/memory`
   *
   * @throws {PermissionDeniedError} when the user is not a member of the workspace
   */
  create(params: MemoryCreateParams, options?: RequestOptions): APIPromise<UserMemoryItem> {
    return this.#transport.request(
      { method: 'POST', path: '/api/memory', body: params, accepts: memoryCreateBodySchema },
      { schema: memoryAnswerSchema, pick: ({ memory }) => memory },
      options,
    );
  }

  /**
   * Change an item, or deactivate it with `isActive: false`. `PATCH /api/memory/{memoryId}`
   *
   * @throws {NotFoundError} when there is no such item
   */
  update(memoryId: string, params: MemoryUpdateParams, options?: RequestOptions): APIPromise<UserMemoryItem> {
    return this.#transport.request(
      {
        method: 'PATCH',
        path: '/api/memory/{memoryId}',
        ids: { memoryId },
        body: params,
        accepts: memoryUpdateBodySchema,
      },
      { schema: memoryAnswerSchema, pick: ({ memory }) => memory },
      options,
    );
  }

  /**
   * Delete an item for good. `DELETE /api/memory/{memoryId}`
   *
   * @throws {NotFoundError} when there is no such item
   */
  delete(memoryId: string, options?: RequestOptions): APIPromise<void> {
    return this.#transport.request(
      { method: 'DELETE', path: '/api/memory/{memoryId}', ids: { memoryId } },
      NOTHING,
      options,
    );
  }
}
