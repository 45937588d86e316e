import { existsSync } from 'node:fs';

const INSTALLED = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** The path of an installed Chromium, or of the one in an npm package, which is unpacked at its first use. */
export async function findChromium(): Promise<string | undefined> {
  const installed = INSTALLED.find((path) => existsSync(path));
  if (installed !== undefined) return installed;
  if (`${process.platform} ${process.arch}` !== 'linux x64') return undefined; // the package has no other
  // Makes the package unpack the libraries that it needs.
  process.env.AWS_EXECUTION_ENV ??= 'AWS_Lambda_nodejs22.x';
  const { default: chromium } = await import('@sparticuz/chromium');
  return chromium.executablePath();
}

/** Global setup: unpacks Chromium, before two tests do so at once. */
export default async function setup(): Promise<void> {
  await findChromium();
}
