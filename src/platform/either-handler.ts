import type { DispatchHandler, RawHeaders } from './agent.js';

/** What undici 8 gives a handler to steer its request with; undici 7 as well, to handlers of this form. */
interface Controller {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** Headers as undici 8 has read them. */
type ReadHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A handler in both of undici's forms, for a dispatcher of the user's: it may be of any version from 6 to 8. */
export class EitherHandler implements DispatchHandler {
  readonly #handler: DispatchHandler;

  constructor(handler: DispatchHandler) {
    this.#handler = handler;
  }

  onConnect(abort: (reason: Error) => void): void {
    this.#handler.onConnect(abort);
  }

  onHeaders(status: number, headers: RawHeaders, resume: () => void): boolean {
    return this.#handler.onHeaders(status, headers, resume);
  }

  onData(chunk: Uint8Array): boolean {
    return this.#handler.onData(chunk);
  }

  onComplete(): void {
    this.#handler.onComplete();
  }

  onError(error: Error): void {
    this.#handler.onError(error);
  }

  onRequestStart(controller: Controller): void {
    this.#handler.onConnect((reason) => controller.abort(reason));
  }

  onResponseStart(controller: Controller, status: number, headers: ReadHeaders): void {
    const raw = Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().flatMap((one) => [name, one]));
    if (!this.#handler.onHeaders(status, raw, () => controller.resume())) controller.pause();
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    if (!this.#handler.onData(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.#handler.onComplete();
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    this.#handler.onError(error);
  }
}
