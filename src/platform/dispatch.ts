/** The used part of undici's pool. */
export interface Dispatch {
  dispatch(options: object, handler: DispatchHandler): boolean;
}

/** The handler methods that undici 7 and 8 call. undici 6 uses another form. */
export interface DispatchHandler {
  onRequestStart(controller: Controller): void;
  onResponseStart(controller: Controller, status: number, headers: ResponseFields): void;
  onResponseData(controller: Controller, chunk: Uint8Array): void;
  onResponseEnd(): void;
  onResponseError(controller: Controller | undefined, error: Error): void;
}

/** Controls a request. A dispatcher that retries passes a new controller for each attempt. */
export interface Controller {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

/** Headers by lower-case name. A repeated header is an array. */
export type ResponseFields = Readonly<Record<string, string | readonly string[]>>;
