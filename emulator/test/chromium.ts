import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { dataDirectory } from './support.js';

/** The path of the system's Chromium, or of the packaged one. Undefined if there is neither. */
export async function findChromium(): Promise<string | undefined> {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      // Try the next name.
    }
  }
  try {
    // Makes the package unpack its shared libraries.
    process.env.AWS_EXECUTION_ENV ??= 'AWS_Lambda_nodejs22.x';
    const { default: chromium } = await import('@sparticuz/chromium');
    return await chromium.executablePath();
  } catch {
    return undefined;
  }
}

/** A browser with one page, driven over the DevTools protocol on a pipe. */
export class Browser {
  readonly #process: ChildProcess;
  readonly #write: Writable;
  readonly #waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  /** The URLs that the page requested, in order. */
  readonly requested: string[] = [];
  /** The exceptions and log entries of the page. */
  readonly complaints: string[] = [];
  #next = 1;
  #session: string | undefined;

  private constructor(path: string) {
    this.#process = spawn(
      path,
      [...FLAGS, `--user-data-dir=${dataDirectory()}`, '--remote-debugging-pipe', 'about:blank'],
      {
        stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      },
    );
    // `stdio` above asks for both pipes.
    this.#write = this.#process.stdio[3] as Writable;
    let rest = '';
    (this.#process.stdio[4] as Readable).on('data', (data) => {
      const messages = (rest + data).split('\0');
      rest = messages.pop() ?? '';
      for (const message of messages) this.#receive(JSON.parse(message));
    });
  }

  static async start(
    path: string,
    { width, height, scheme = 'light' }: { width: number; height: number; scheme?: string },
  ): Promise<Browser> {
    const browser = new Browser(path);
    const { targetId } = await browser.send('Target.createTarget', { url: 'about:blank' });
    browser.#session = (await browser.send('Target.attachToTarget', { targetId, flatten: true })).sessionId as string;
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await browser.send(`${domain}.enable`);
    await browser.resize(width, height);
    await browser.scheme(scheme);
    return browser;
  }

  send(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = this.#next;
    this.#next += 1;
    const session = this.#session === undefined ? {} : { sessionId: this.#session };
    this.#write.write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    return new Promise((resolve, reject) => {
      // The result of every command is an object.
      this.#waiting.set(id, { resolve: resolve as (result: unknown) => void, reject });
    });
  }

  async resize(width: number, height: number): Promise<void> {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  }

  /** `light` or `dark`. */
  async scheme(value: string): Promise<void> {
    await this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] });
  }

  async open(url: string): Promise<void> {
    await this.send('Page.navigate', { url });
  }

  /** Evaluates an expression in the page. */
  async evaluate<T>(expression: string): Promise<T> {
    const answer = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (answer.exceptionDetails !== undefined) throw new Error(JSON.stringify(answer.exceptionDetails));
    return (answer.result as { value: T }).value;
  }

  /** Waits up to 15 s until an expression in the page is true. */
  async until(expression: string): Promise<void> {
    const deadline = Date.now() + 15_000;
    while (!(await this.evaluate<boolean>(`Boolean(${expression})`).catch(() => false))) {
      if (Date.now() > deadline) {
        const text = await this.evaluate<string>('document.body.innerText');
        throw new Error(`never came true: ${expression}\n${text}\n${this.complaints.join('\n')}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  }

  /** Presses and releases a key. */
  async press(key: string, code = key, text?: string): Promise<void> {
    const codes: Record<string, number> = { Tab: 9, Enter: 13, ' ': 32 };
    const params = {
      key,
      code,
      windowsVirtualKeyCode: codes[key] ?? key.charCodeAt(0),
      ...(text === undefined ? {} : { text }),
    };
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', ...params });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...params });
  }

  async screenshot(): Promise<Buffer> {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: false });
    return Buffer.from(String(data), 'base64');
  }

  async close(): Promise<void> {
    const gone = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGKILL');
    await gone;
  }

  #receive(message: {
    id?: number;
    method?: string;
    params?: Record<string, unknown>;
    result?: unknown;
    error?: { message: string };
  }): void {
    if (message.id !== undefined) {
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error === undefined) waiting?.resolve(message.result);
      else waiting?.reject(new Error(message.error.message));
    }
    if (message.method === 'Network.requestWillBeSent') {
      this.requested.push((message.params as { request: { url: string } }).request.url);
    }
    if (message.method === 'Runtime.exceptionThrown' || message.method === 'Log.entryAdded') {
      this.complaints.push(JSON.stringify(message.params));
    }
  }
}

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--hide-scrollbars',
  '--force-color-profile=srgb',
];
