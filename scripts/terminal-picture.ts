import { spawn } from 'node:child_process';
import type { Browser } from 'puppeteer-core';

/** Runs a program, types each input at its prompt, and returns what a terminal would show. */
export async function record(
  command: readonly string[],
  { env = {}, inputs = [] }: { env?: Record<string, string>; inputs?: readonly string[] } = {},
): Promise<string> {
  const child = spawn(process.execPath, ['--import', 'tsx', '--import', './scripts/import-lua.js', ...command], {
    env: { PATH: process.env.PATH, FORCE_COLOR: '1', NODE_NO_WARNINGS: '1', ...env },
  });
  const left = [...inputs];
  let shown = '';
  const show = (text: string): void => {
    shown += text;
    if (!/> (\u001b\[\d+m)*$/.test(shown)) return;
    const input = left.shift();
    if (input === undefined) return void child.stdin.end();
    shown += `${input}\n`;
    child.stdin.write(`${input}\n`);
  };
  child.stdout.setEncoding('utf8').on('data', show);
  child.stderr.setEncoding('utf8').on('data', show);
  await new Promise((resolve) => child.once('close', resolve));
  return shown.trimEnd();
}

/** A picture of a terminal with this text. */
export async function picture(browser: Browser, title: string, text: string, path: string): Promise<void> {
  const page = await browser.newPage();
  await page.setViewport({ width: 980, height: 100, deviceScaleFactor: 1.5 });
  await page.setContent(`<meta charset="utf-8"><style>
    body { margin: 0; background: #1b1f24; color: #d6dae0; font: 14px/1.5 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
    header { background: #2a3038; color: #9aa4b0; padding: 8px 16px; font: 13px system-ui, sans-serif; }
    pre { margin: 0; padding: 14px 16px 18px; white-space: pre-wrap; font: inherit; overflow-wrap: anywhere; }
    i { display: inline-block; width: 8px; height: 12px; background: #3a424c } i.full { background: #7fd18b }
    .b { font-weight: 700; color: #fff } .d { color: #8a94a0 } .c31 { color: #ff8b82 } .c32 { color: #7fd18b } .c33 { color: #f0c674 }
    .c34 { color: #8ab4f8 } .c35 { color: #d7a5f2 } .c36 { color: #7fd6d6 } .c90 { color: #8a94a0 }
  </style><header>${escaped(title)}</header><pre>${coloured(text)}</pre>`);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewport({ width: 980, height, deviceScaleFactor: 1.5 });
  await page.screenshot({ path: path as `${string}.webp`, type: 'webp', quality: 80 });
  await page.close();
}

const CLASSES: Readonly<Record<string, string>> = { 1: 'b', 2: 'd' };

/** Turns the colours of a terminal into elements. Unknown codes end all colours. */
function coloured(text: string): string {
  let open = 0;
  const html = escaped(text).replace(/\u001b\[([\d;]*)m/g, (_, codes: string) => {
    const names = codes
      .split(';')
      .map((code) => CLASSES[code] ?? (/^(3[1-6]|90)$/.test(code) ? `c${code}` : undefined));
    if (names.includes(undefined)) {
      const ends = '</span>'.repeat(open);
      open = 0;
      return ends;
    }
    open += names.length;
    return names.map((name) => `<span class="${name}">`).join('');
  });
  // The characters of a bar are in few fonts.
  const bars = html.replaceAll('█', '<i class="full"></i>').replaceAll('░', '<i></i>');
  return bars + '</span>'.repeat(open);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
