import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { freePort } from '../../scripts/free-port.js';
import type { TestBrowser, TestPage } from './launch.js';

const DRIVER = '/usr/bin/WebKitWebDriver';
const XVFB = '/usr/bin/Xvfb';

/** WebKit, the engine of Safari, if Debian's packages webkit2gtk-driver and xvfb are installed. */
export async function launchWebKit(): Promise<TestBrowser | undefined> {
  const binary = findMiniBrowser();
  if (binary === undefined || !existsSync(DRIVER) || !existsSync(XVFB)) return undefined;
  const screen = await openScreen();
  const driver = await openDriver(screen.display);
  const { sessionId } = await driver.ask<{ sessionId: string }>('POST', '/session', {
    capabilities: {
      alwaysMatch: {
        timeouts: { script: 300_000, pageLoad: 30_000 },
        'webkitgtk:browserOptions': { binary, args: ['--automation'] },
      },
    },
  });
  const session = `/session/${sessionId}`;
  const end = (): void => {
    process.off('exit', end);
    stop(driver.process);
    stop(screen.process);
  };
  process.once('exit', end);
  return {
    newPage: async () => pageOf((path, body) => driver.ask('POST', session + path, body)),
    close: async () => {
      await driver.ask('DELETE', session).catch(() => {});
      end();
    },
  };
}

function pageOf(post: (path: string, body: object) => Promise<unknown>): TestPage {
  return {
    goto: (url) => post('/url', { url }),
    evaluate: async (act, argument) => {
      // As JSON, because WebDriver turns `undefined` into `null`.
      const script = `const done = arguments[1]; new Promise((go) => go((${act})(arguments[0]))).then(
        (value) => done(JSON.stringify({ value })), (error) => done(JSON.stringify({ error: String(error) })));`;
      const { value, error } = JSON.parse(String(await post('/execute/async', { script, args: [argument] })));
      if (error !== undefined) throw new Error(error);
      return value;
    },
  };
}

function findMiniBrowser(): string | undefined {
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib') : [];
  const paths = folders.map((folder) => `/usr/lib/${folder}/webkit2gtk-4.1/MiniBrowser`);
  return paths.find((path) => existsSync(path));
}

/** A virtual screen with a free display number. */
async function openScreen(): Promise<{ process: ChildProcess; display: string }> {
  const args = ['-displayfd', '3', '-screen', '0', '1024x768x24', '-nolisten', 'tcp'];
  const process = spawn(XVFB, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const [number] = await once(process.stdio[3] as Readable, 'data');
  return { process, display: `:${String(number).trim()}` };
}

async function openDriver(display: string) {
  const port = await freePort();
  const child = spawn(DRIVER, [`--port=${port}`, '--host=127.0.0.1'], {
    stdio: 'ignore',
    detached: true, // its own process group, so that its children can be killed with it
    env: {
      ...process.env,
      DISPLAY: display,
      GDK_BACKEND: 'x11',
      WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', // there is no sandbox inside a container
      WEBKIT_DISABLE_COMPOSITING_MODE: '1',
    },
  });
  const ask = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    const { value } = (await response.json()) as { value: T & { error?: string; message?: string } };
    if (!response.ok) throw new Error(`WebKitWebDriver, ${method} ${path}: ${value.error}: ${value.message}`);
    return value;
  };
  for (let tries = 0; ; tries += 1) {
    const ready = await ask('GET', '/status').then(
      () => true,
      () => false,
    );
    if (ready) return { process: child, ask };
    if (tries === 100) throw new Error('WebKitWebDriver did not start within 10 s');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function stop(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && child.spawnfile === DRIVER) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It has already exited.
  }
}
