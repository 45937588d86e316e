import { APIPromise, type WithResponse } from '../api-promise.js';
import { type RequestOptions, requestOptionsSchema } from '../transport/options.js';
import { ownFields } from '../transport/request.js';
import type { Transport } from '../transport/transport.js';
import { checkArguments, fieldsOf } from '../transport/validation.js';
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
   * Remember something under a key: changes the item of this type and key, and makes it active, or creates one.
   * `GET /api/memory`, then `PATCH /api/memory/{memoryId}` or `POST /api/memory`
   *
   * The interface has no call that does both at once: two upserts of a new key at the same time can create two items. Of several
   * items with the key, the first one listed is changed. `withResponse()` gives the second answer.
   *
   * @throws {PermissionDeniedError} when the user is not a member of the workspace
   */
  upsert(params: MemoryCreateParams, options?: RequestOptions): APIPromise<UserMemoryItem> {
    return new APIPromise(this.#upsert(params, options));
  }

  /**
   * Make an item active again. `PATCH /api/memory/{memoryId}`
   *
   * Takes the item, because the interface asks for its content and has no call that reads one item: content that was changed
   * since you read it is changed back.
   *
   * @throws {NotFoundError} when there is no such item
   */
  activate(item: Pick<UserMemoryItem, 'id' | 'content'>, options?: RequestOptions): APIPromise<UserMemoryItem> {
    return this.update(item?.id, { content: item?.content, isActive: true }, options);
  }

  /**
   * Keep an item without using it. `PATCH /api/memory/{memoryId}`
   *
   * Takes the item, as `activate` does. Lists go on holding it and do not say that it is inactive (A24).
   *
   * @throws {NotFoundError} when there is no such item
   */
  deactivate(item: Pick<UserMemoryItem, 'id' | 'content'>, options?: RequestOptions): APIPromise<UserMemoryItem> {
    return this.update(item?.id, { content: item?.content, isActive: false }, options);
  }

  async #upsert(params: MemoryCreateParams, options?: RequestOptions): Promise<WithResponse<UserMemoryItem>> {
    // As `create` checks them, but before anything is asked.
    const given = ownFields(params, fieldsOf(memoryCreateBodySchema));
    checkArguments(memoryCreateBodySchema, given, requestOptionsSchema);
    const { type, key, content, workspaceId } = given as MemoryCreateParams; // it has passed the schema
    const scope = workspaceId === undefined ? {} : { workspaceId };
    const known = (await this.list({ ...scope, type }, options)).find((item) => item.type === type && item.key === key);
    const write =
      known === undefined
        ? this.create(given as MemoryCreateParams, options)
        : this.activate({ id: known.id, content }, options);
    return write.withResponse();
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
