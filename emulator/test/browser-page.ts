import type { Browser, KeyInput, Page } from 'puppeteer-core';
import { launchChromium } from '../../test/browser/launch.js';

/** A browser with one page. What runs in the page is given as text, because it is not compiled for Node. */
export class BrowserPage {
  readonly #browser: Browser;
  readonly #page: Page;
  /** The URLs that the page requested, in order. */
  readonly requested: string[] = [];
  /** The exceptions of the page, and the errors and warnings in its console. */
  readonly complaints: string[] = [];

  private constructor(browser: Browser, page: Page) {
    this.#browser = browser;
    this.#page = page;
    page.on('request', (request) => this.requested.push(request.url()));
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('console', (message) => {
      if (['error', 'warn'].includes(message.type())) this.complaints.push(message.text());
    });
  }

  static async start(width: number, height: number): Promise<BrowserPage> {
    const browser = await launchChromium();
    const page = new BrowserPage(browser, await browser.newPage());
    await page.resize(width, height);
    return page;
  }

  resize(width: number, height: number): Promise<void> {
    return this.#page.setViewport({ width, height });
  }

  scheme(value: 'light' | 'dark'): Promise<void> {
    return this.#page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
  }

  /** Saves downloads in this folder, without a question. */
  async downloadTo(downloadPath: string): Promise<void> {
    const session = await this.#page.createCDPSession();
    await session.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath });
  }

  async open(url: string): Promise<void> {
    await this.#page.goto(url);
  }

  /** Evaluates an expression in the page. */
  async evaluate<T>(expression: string): Promise<T> {
    return (await this.#page.evaluate(expression)) as T; // the caller knows its type
  }

  /** Waits up to 15 s until an expression in the page is true. It may throw until then. */
  async until(expression: string): Promise<void> {
    const attempted = `(() => { try { return Boolean(${expression}); } catch { return false; } })()`;
    try {
      await this.#page.waitForFunction(attempted, { timeout: 15_000, polling: 30 });
    } catch (cause) {
      const text = await this.evaluate<string>('document.body.innerText');
      throw new Error(`never came true: ${expression}\n${text}\n${this.complaints.join('\n')}`, { cause });
    }
  }

  /** What is wider than the page, except for what scrolls. */
  tooWide(): Promise<string[]> {
    return this.evaluate(`[...document.querySelectorAll('body *')]
      .filter((each) => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('.unseen, .skip, .code, .scrolls'))
      .map((each) => each.outerHTML.slice(0, 160))`);
  }

  /** Presses and releases a key. */
  press(key: KeyInput): Promise<void> {
    return this.#page.keyboard.press(key);
  }

  screenshot(): Promise<Uint8Array> {
    return this.#page.screenshot();
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}
