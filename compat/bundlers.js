/**
 * Bundles the same page with each bundler. The bundle must be small, contain no Node code, and stream in a browser. Then a page
 * without a bundler, in every browser.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build as esbuild, version as esbuildVersion } from 'esbuild';
import { tsImport } from 'tsx/esm/api';
import * as vite6 from 'vite';
import * as vite8 from 'vite8';
import webpack from 'webpack';
import { runWell } from './child.js';
import { install } from './package-file.js';
import { runWebpack } from './webpack.js';

/**
 * KB, minified and gzipped. Vite 6 makes the largest, because it compiles for browsers of 2020. scripts/size.js has a
 * tighter budget for esbuild.
 */
const BUDGET = 44;
/** Code for Node, and the output of bundlers for modules they could not bundle. */
const STRAYS = [/undici/, /["'`]node:/, /\brequire\(/, /process\.binding/];

/** Each bundles `app.js` of `folder` into `outfile`, minified as in production. */
const BUNDLERS = {
  [`esbuild ${esbuildVersion}`]: async (folder, outfile) => {
    await esbuild({
      entryPoints: [join(folder, 'app.js')],
      outfile: join(folder, outfile),
      bundle: true,
      minify: true,
      format: 'esm',
      logLevel: 'silent',
    });
  },
  // Rollup in Vite 6, Rolldown in Vite 8.
  [`Vite ${vite6.version}`]: withVite(vite6.build, { inlineDynamicImports: true }),
  [`Vite ${vite8.version}`]: withVite(vite8.build, { codeSplitting: false }),
  [`webpack ${webpack.version}`]: withWebpack,
};

function withVite(build, oneFile) {
  return async (folder, outfile) => {
    const output = { entryFileNames: outfile, ...oneFile };
    await build({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      build: { outDir: folder, emptyOutDir: false, rollupOptions: { input: join(folder, 'app.js'), output } },
    });
  };
}

function withWebpack(folder, outfile) {
  return runWebpack({ context: folder, entry: './app.js', output: { path: folder, filename: outfile } });
}

const PARCEL = '2.16.4';

/** With Parcel's defaults, which read `browser` and neither `exports` nor `imports`. */
async function parcel(file, folder, outfile) {
  const project = join(folder, '../parcel');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'parcel-app', private: true }));
  cpSync(join(folder, 'app.js'), join(project, 'app.js'));
  writeFileSync(join(project, 'index.html'), '<script type="module" src="app.js"></script>');
  await install([file, `parcel@${PARCEL}`], project);
  const options = ['--no-source-maps', '--no-cache', '--no-content-hash', '--dist-dir', 'out'];
  await runWell([join(project, 'node_modules/.bin/parcel'), 'build', 'index.html', ...options], { cwd: project });
  const script = /src="?\/?([^">]+)/.exec(readFileSync(join(project, 'out/index.html'), 'utf8'))[1];
  cpSync(join(project, 'out', script), join(folder, outfile));
}

const { browsers, launchBrowser, launchChromium } = await tsImport('../test/browser/launch.ts', import.meta.url);

/** Returns the checks as `[name, check]`, for a project that has the package installed. */
export async function bundlerChecks(file, project, emulator) {
  const server = await serve(project);
  let browser;
  const query = new URLSearchParams({ baseURL: emulator.url, apiKey: emulator.publishable });
  /** Opens a page with a script of the project: at an address, or from the disk. */
  const checkPage = async (script, base) => {
    const attributes = base === server.url ? 'type="module"' : 'defer';
    const page = script.replace('.js', '.html');
    writeFileSync(join(project, page), `<!doctype html><title></title><script ${attributes} src="${script}"></script>`);
    browser ??= await launchChromium();
    const title = await titleOf(browser, `${base}/${page}?${query}`);
    if (!title.includes('PostgreSQL')) throw new Error(`the page says: ${title}`);
  };
  const bundlers = {
    ...BUNDLERS,
    [`Parcel ${PARCEL} with its defaults`]: (folder, outfile) => parcel(file, folder, outfile),
  };
  const bundled = Object.entries(bundlers).map(([name, bundle]) => [
    `${name}, streaming in Chromium`,
    async () => {
      const outfile = `app-${name.replaceAll(/\W+/g, '-')}.js`;
      await bundle(project, outfile);
      const code = readFileSync(join(project, outfile), 'utf8');
      const stray = STRAYS.find((pattern) => pattern.test(code));
      if (stray !== undefined) throw new Error(`${stray} is in the bundle`);
      await checkPage(outfile, server.url);
      const size = sizeOf(code);
      if (size > BUDGET) throw new Error(`${size.toFixed(1)} KB gzipped, more than ${BUDGET}`);
      return `${size.toFixed(1)} KB gzipped`;
    },
  ]);
  const fromDisk = [
    "a page from the disk, as in Electron's renderer, streaming in Chromium",
    async () => {
      const options = { bundle: true, minify: true, format: 'iife', logLevel: 'silent' };
      await esbuild({ ...options, entryPoints: [join(project, 'app.js')], outfile: join(project, 'renderer.js') });
      await checkPage('renderer.js', pathToFileURL(project));
      return '';
    },
  ];
  const unbundled = browsers.map((one) => [
    `no bundler, dist/browser.js, streaming in ${one.name}`,
    async () => {
      const script = join(project, 'node_modules/context-gateway/dist/browser.js');
      cpSync(script, join(project, 'no-bundler/context-gateway.js'));
      const own = await launchBrowser(one);
      if (own === undefined) return 'not installed';
      try {
        const page = await own.newPage();
        await page.goto(`${server.url}/no-bundler/index.html?${query}`);
        const reply = await page.evaluate(replyOfPage);
        if (!reply.includes('PostgreSQL')) throw new Error(`the page says: ${reply}`);
      } finally {
        await own.close();
      }
      return `${sizeOf(readFileSync(script)).toFixed(1)} KB gzipped`;
    },
  ]);
  const end = async () => {
    await browser?.close();
    server.stop();
  };
  return { checks: [...bundled, fromDisk, ...unbundled], end };
}

const sizeOf = (code) => gzipSync(code, { level: 9 }).length / 1024;

/** Serves the pages and scripts of a folder. */
async function serve(folder) {
  const types = { html: 'text/html', js: 'text/javascript' };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://page');
    const type = types[pathname.split('.').at(-1)];
    if (type === undefined) return response.writeHead(404).end(); // the icon that browsers ask for
    response.setHeader('content-type', type);
    response.setHeader('content-security-policy', "default-src 'none'; script-src 'self'; connect-src *");
    response.end(readFileSync(join(folder, pathname)));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() };
}

/** Waits until the page sets its title, and returns it. */
async function titleOf(browser, address) {
  const page = await browser.newPage();
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  await page.goto(address);
  await page.waitForFunction(() => document.title !== '', { timeout: 10_000 }).catch(() => {});
  const title = await page.title();
  await page.close();
  return title === '' ? `nothing; ${problems.join(' ')}` : title;
}

/** Asks the question of the page without a bundler. Runs in the page, so it uses nothing from outside. */
async function replyOfPage() {
  const form = document.querySelector('form');
  const isReady = async () => {
    while (form.ariaBusy === 'true') await new Promise((resolve) => setTimeout(resolve, 20));
  };
  await isReady();
  form.requestSubmit();
  await isReady();
  return document.querySelector('p').textContent;
}
