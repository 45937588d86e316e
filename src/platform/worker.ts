import * as page from './browser.js';
import type { Engine, EngineOptions, Form, ProgressListener, Upload } from './engine.js';
import { isBrowser } from './environment.js';
import { requestInit } from './fetch.js';
import { contentOf } from './upload/content.js';
import { refusePath } from './upload/file.js';
import { multipart } from './upload/multipart.js';

export { matches, userAgent } from './browser.js';
export { environmentListener, isBrowser, readEnvironment } from './environment.js';
export { adviceFor } from './names-of-others.js';
export { redirectTarget, stillEncoded } from './on-the-way.js';

/** Workers of servers, which can stream uploads, and of browsers, which cannot. */
export function createEngine(options: EngineOptions): Engine {
  return page.createEngine(options, isBrowser() ? page.PAGE : { requestInit });
}

export function createForm(form: Form, listener: ProgressListener): Upload {
  if (isBrowser()) return page.createForm(form, listener);
  return multipart(form, contentOf(form, refusePath), listener);
}
