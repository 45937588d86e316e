import { badArgument, ConfigurationError } from '../errors.js';
import type { Engine, EngineOptions, OpenedFile } from './engine.js';
import { FetchEngine } from './fetch-engine.js';

export { isBrowser, readEnvironment } from './environment.js';

/** In browsers and in workers, bytes leave through `fetch`. */
export function createEngine(options: EngineOptions): Engine {
  if (options.dispatcher !== undefined) {
    throw new ConfigurationError('dispatcher works on Node only. Pass a fetch of your own here.');
  }
  return new FetchEngine(options.fetch);
}

/** Pages with a strict content security policy allow no generated code. */
export const compile = <Schema>(schema: Schema): Schema => schema;

/** There are no files here. */
export function openFile(_path: string | URL): OpenedFile {
  throw badArgument(['file'], '{ path } works on Node, Bun and Deno only; pass a Blob or a File');
}
