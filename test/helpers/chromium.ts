import { existsSync } from 'node:fs';

const INSTALLED = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** The Chromium that `PUPPETEER_EXECUTABLE_PATH` names, or else that of an npm package, whose version is ours, or an installed one. */
export async function findChromium(): Promise<string | undefined> {
  const { PUPPETEER_EXECUTABLE_PATH: named } = process.env;
  if (named !== undefined) return named;
  // The package has no other.
  if (`${process.platform} ${process.arch}` !== 'linux x64') return INSTALLED.find((path) => existsSync(path));
  // Makes the package unpack the libraries that it needs.
  process.env.AWS_EXECUTION_ENV ??= 'AWS_Lambda_nodejs22.x';
  const { default: chromium } = await import('@sparticuz/chromium');
  return chromium.executablePath(); // unpacked at its first use
}

/** Global setup: unpacks Chromium, before two tests do so at once. */
export default async function setup(): Promise<void> {
  await findChromium();
}
