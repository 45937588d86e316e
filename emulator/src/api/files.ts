import * as z from 'zod/mini';
import { badRequest, HttpError } from '../base/errors.js';
import { described, id } from '../base/fields.js';
import type { AreaRoutes } from '../http/area-routes.js';
import { parseMultipart } from '../http/body.js';
import { json } from '../http/plain-response.js';
import { fileRecord } from '../store/files.js';
import type { GatewayApiState } from './state.js';

const uploadBody = z.object({ file: described('The bytes of the file.', z.string()), purpose: id });

/** `/v1/files` */
export function fileRoutes(area: AreaRoutes, { settings, stores }: GatewayApiState): void {
  area.add('POST /v1/files', {
    id: 'uploadFile',
    summary: 'Upload a file',
    body: { 'multipart/form-data': uploadBody },
    responses: { 200: fileRecord },
    handle: async (c) => {
      const { exchange } = c;
      const form = await parseMultipart(await exchange.bytes(), exchange.request.headers.get('content-type'));
      const file = form.get('file');
      if (!(file instanceof Blob))
        throw badRequest('file', 'file is required and must be a file part', 'missing_parameter');
      const purpose = form.get('purpose');
      if (typeof purpose !== 'string' || purpose === '')
        throw badRequest('purpose', 'purpose is required', 'missing_parameter');
      if (file.size > settings.maxFileSize) {
        throw new HttpError(413, `The file is larger than ${settings.maxFileSize} bytes`, {
          param: 'file',
          code: 'file_too_large',
        });
      }
      const content = new Uint8Array(await file.arrayBuffer());
      const { requestId } = exchange.entry;
      const record = stores.files.add({ filename: file.name, purpose, content, contentType: file.type, requestId });
      exchange.entry.file = record.id;
      return json(record);
    },
  });
}
