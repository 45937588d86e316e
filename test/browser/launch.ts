import { existsSync } from 'node:fs';
import puppeteer, { type Browser } from 'puppeteer-core';
import { findChromium } from '../helpers/chromium.js';
import { launchWebKit } from './webkit.js';

/** The part of a browser that these tests use. */
export interface TestBrowser {
  newPage(): Promise<TestPage>;
  close(): Promise<void>;
}

export interface TestPage {
  goto(url: string): Promise<unknown>;
  /** Runs a function in the page. Its argument and result are JSON. */
  evaluate<Argument, Result>(act: (argument: Argument) => Result, argument: Argument): Promise<Awaited<Result>>;
}

/** Returns `undefined` if the browser is not installed. */
type Launch = () => Promise<TestBrowser | undefined>;

// The casts are correct because no test passes a puppeteer handle.
export const browsers: readonly { name: string; launch: Launch }[] = [
  { name: 'Chromium', launch: (async () => (await findChromium()) && launchChromium()) as Launch },
  { name: 'Firefox', launch: launchFirefox as Launch },
  { name: 'WebKit', launch: launchWebKit },
];

/** Skips a browser that is not installed with a warning, or fails if `REQUIRE_BROWSERS` is set. */
export async function launchBrowser({ name, launch }: (typeof browsers)[number]): Promise<TestBrowser | undefined> {
  const browser = await launch();
  if (browser === undefined) warnWithout(name);
  return browser;
}

/** Whether there is a Chromium, for `describe.runIf`. Warns or fails like `launchBrowser`. */
export async function hasChromium(): Promise<boolean> {
  const isInstalled = (await findChromium()) !== undefined;
  if (!isInstalled) warnWithout('Chromium');
  return isInstalled;
}

function warnWithout(name: string): void {
  if (process.env.REQUIRE_BROWSERS)
    throw new Error(`${name} is not installed, and REQUIRE_BROWSERS is set. On Debian, npm run verify installs it.`);
  console.warn(`SKIPPED: ${name} is not installed here. Its tests run where it is.`);
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Chromium, for tests that run in no other browser. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = await findChromium();
  if (executablePath === undefined) throw new Error('There is no Chromium. Install Chrome or Chromium.');
  return puppeteer.launch({ executablePath, headless: true, args: FLAGS });
}

/** Firefox, if it is installed. */
export async function launchFirefox(): Promise<Browser | undefined> {
  const executablePath = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path));
  return executablePath === undefined
    ? undefined
    : puppeteer.launch({ browser: 'firefox', executablePath, headless: true });
}
