import { existsSync } from 'node:fs';
import puppeteer, { type Browser } from 'puppeteer-core';
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
  /** Chromium only: the others cannot be switched offline. */
  setOfflineMode?(isOffline: boolean): Promise<void>;
}

/** Returns `undefined` if the browser is not installed. */
type Launch = () => Promise<TestBrowser | undefined>;

// The casts are correct because no test passes a puppeteer handle.
export const browsers: readonly { name: string; launch: Launch }[] = [
  { name: 'Chromium', launch: launchChromium as Launch },
  { name: 'Firefox', launch: launchFirefox as Launch },
  { name: 'WebKit', launch: launchWebKit },
];

/** Skips a browser that is not installed with a warning, or fails if `REQUIRE_BROWSERS` is set. */
export async function launchBrowser({ name, launch }: (typeof browsers)[number]): Promise<TestBrowser | undefined> {
  const browser = await launch();
  if (browser === undefined && process.env.REQUIRE_BROWSERS)
    throw new Error(`${name} is not installed, and REQUIRE_BROWSERS is set. On Debian: see .ci/run`);
  if (browser === undefined) console.warn(`SKIPPED: ${name} is not installed here. Its tests run where it is.`);
  return browser;
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

/** Chromium: the system's if there is one, and otherwise that of the npm package. */
export async function launchChromium(): Promise<Browser> {
  const system = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
    existsSync(path),
  );
  const executablePath = system ?? (await packagedChromium());
  return puppeteer.launch({ executablePath, headless: true, args: FLAGS });
}

async function packagedChromium(): Promise<string> {
  // Makes the package unpack the libraries that it needs.
  process.env.AWS_EXECUTION_ENV ??= 'AWS_Lambda_nodejs22.x';
  const { default: chromium } = await import('@sparticuz/chromium');
  return chromium.executablePath();
}

/** Firefox, if it is installed. */
export async function launchFirefox(): Promise<Browser | undefined> {
  const executablePath = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path));
  return executablePath === undefined
    ? undefined
    : puppeteer.launch({ browser: 'firefox', executablePath, headless: true });
}
