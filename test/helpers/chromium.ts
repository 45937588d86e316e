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
  return process.env.PUPPETEER_EXECUTABLE_PATH ?? (await findChromiums())[0];
}

/** The paths of every kind of Chromium here: the one in an npm package, which is unpacked at its first use, and one installed. */
export async function findChromiums(): Promise<string[]> {
  const installed = INSTALLED.filter((path) => existsSync(path)).slice(0, 1);
  if (`${process.platform} ${process.arch}` !== 'linux x64') return installed; // the package has no other
  // Makes the package unpack the libraries that it needs.
  process.env.AWS_EXECUTION_ENV ??= 'AWS_Lambda_nodejs22.x';
  const { default: chromium } = await import('@sparticuz/chromium');
  return [await chromium.executablePath(), ...installed];
}

/** Global setup: unpacks Chromium, before two tests do so at once. */
export default async function setup(): Promise<void> {
  await findChromium();
}
