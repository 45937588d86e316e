import { existsSync } from 'node:fs';
import puppeteer, { type Browser } from 'puppeteer-core';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Chromium: the system's if there is one, else the one that comes as a package and needs nothing installed. */
export async function launchChromium(): Promise<Browser> {
  const system = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
    existsSync(path),
  );
  const executablePath = system ?? (await packagedChromium());
  return puppeteer.launch({ executablePath, headless: true, args: FLAGS });
}

async function packagedChromium(): Promise<string> {
  // Makes it unpack the libraries it needs beside itself.
  process.env.AWS_EXECUTION_ENV ??= 'AWS_Lambda_nodejs22.x';
  const { default: chromium } = await import('@sparticuz/chromium');
  return chromium.executablePath();
}

/** Firefox, where it is installed. */
export async function launchFirefox(): Promise<Browser | undefined> {
  const executablePath = ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path));
  return executablePath === undefined
    ? undefined
    : puppeteer.launch({ browser: 'firefox', executablePath, headless: true });
}
