import {
  APIAbortError,
  APIError,
  type ChatCompletionParams,
  type CompletionUsage,
  GatewayClient,
} from 'context-gateway';
import { replyText } from '../service/reply.js';
import { playgroundKey } from './key.js';

/** The progress of a completion. */
export interface Run {
  state: 'waiting' | 'arriving' | 'complete' | 'stopped' | 'failed';
  text: string;
  finishReason?: string | undefined;
  usage?: CompletionUsage | undefined;
  /** Milliseconds until the first text. The first chunk of a stream has only a role. */
  firstToken?: number | undefined;
  duration?: number | undefined;
  requestId?: string | undefined;
  error?: string | undefined;
}

/**
 * Requests a completion through the SDK, as a program would. Calls `onProgress` on every change; `signal` stops it.
 * `conversation` is the one it belongs to.
 */
export async function runCompletion(
  params: ChatCompletionParams,
  onProgress: (run: Run) => void,
  { signal, conversation }: { signal: AbortSignal; conversation: string },
): Promise<void> {
  let run: Run = { state: 'waiting', text: '' };
  const set = (change: Partial<Run>): void => {
    run = { ...run, ...change };
    onProgress(run);
  };
  set({});
  let startedAt = performance.now();
  try {
    const apiKey = await playgroundKey();
    startedAt = performance.now();
    const gateway = new GatewayClient({
      baseURL: location.origin,
      apiKey,
      dangerouslyAllowBrowser: true,
      // The emulator may run in a container under another host name.
      dangerouslyAllowHTTP: true,
      // The playground shows rejected requests, so it neither retries nor waits for rate limits.
      maxRetries: 0,
      pacing: false,
      ...(conversation !== '' && { defaultHeaders: { 'X-Emulator-Conversation': conversation } }),
    });
    const stream = await gateway.chat.completions.create({ ...params, stream: true }, { signal });
    set({ requestId: stream.response.requestId });
    for await (const piece of stream.textStream) {
      const firstToken = run.firstToken ?? (piece === '' ? undefined : performance.now() - startedAt);
      set({ state: 'arriving', text: run.text + piece, firstToken });
    }
    const { choices, usage } = await stream.finalCompletion();
    const finishReason = choices[0]?.finish_reason;
    const text = replyText(choices[0]?.message ?? {});
    set({ state: 'complete', text, finishReason, usage, duration: performance.now() - startedAt });
  } catch (error) {
    const duration = performance.now() - startedAt;
    if (error instanceof APIAbortError) return set({ state: 'stopped', duration });
    const requestId = error instanceof APIError ? (error.requestId ?? run.requestId) : run.requestId;
    set({
      state: 'failed',
      error: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
      duration,
      requestId,
    });
  }
}
