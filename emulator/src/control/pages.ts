import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';

/** Markup, which is inserted without escaping. */
export type Markup = ReturnType<typeof html>;

/** A self-contained page without scripts or external resources. */
export function page(title: string, body: Markup, status = 200): Response {
  const text = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${raw(STYLE)}</style>
${body}
</html>
`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  };
  return new Response(String(text), { status, headers });
}

/** Asks for the control token. It is a POST form, so that no URL, history or log contains the token. */
export function signInPage(problem?: string, status = 401): Response {
  return page(
    'Sign in',
    html`<main class="narrow">
<h1>Emulator</h1>
<form method="post" action="/_emulator/sign-in">
<label for="token">Control token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus${problem !== undefined ? raw(' aria-invalid="true" aria-describedby="wrong"') : ''}>
${problem !== undefined ? html`<p id="wrong" role="alert">${problem}</p>` : ''}
<button>Sign in</button>
</form>
<p>The value of <code>--control-token</code> that the emulator was started with.</p>
</main>`,
    status,
  );
}

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d5d9de, #3a4048); --soft: light-dark(#f4f6f8, #1d2126); --quiet: light-dark(#545c66, #a3adb8); --accent: light-dark(#0b5cad, #7ab8ff); --bad: light-dark(#b3261e, #ff8a80); }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; background: light-dark(#fff, #14171a); color: light-dark(#16191d, #e7eaee); }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
main.narrow { max-width: 24rem; padding-top: 15vh; }
h1 { font-size: 1.5rem; } h2 { margin-top: 2.5rem; font-size: 1.2rem; } h3 { font-size: 1rem; margin: 1rem 0 .25rem; }
a { color: var(--accent); } code, pre, .path { font-family: ui-monospace, monospace; font-size: .875em; }
pre { margin: .25rem 0; padding: .6rem .75rem; overflow-x: auto; background: var(--soft); border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; }
summary { display: flex; flex-wrap: wrap; align-items: baseline; gap: .1rem .75rem; padding: .5rem .75rem; cursor: pointer; }
summary .method { flex: none; width: 4rem; font-weight: 600; } summary .path { overflow-wrap: anywhere; } summary .what { color: var(--quiet); margin-left: auto; }
@media (max-width: 40rem) { summary .what { flex-basis: 100%; } }
details > div { padding: 0 .75rem .75rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .2rem .75rem .2rem 0; border-bottom: 1px solid var(--line); }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; } .quiet { color: var(--quiet); } :target { outline: 2px solid var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
form { display: grid; gap: .5rem; } input, button { font: inherit; padding: .5rem .6rem; border: 1px solid var(--line); border-radius: 6px; }
button { background: var(--accent); color: light-dark(#fff, #14171a); border-color: transparent; } [role=alert] { color: var(--bad); margin: 0; }
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
