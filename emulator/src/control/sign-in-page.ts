import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';

/** Asks for the control token. It is a POST form, so that no URL, history or log contains the token. */
export function signInPage(problem?: string, status = 401): Response {
  const text = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in</title>
<style>${raw(STYLE)}</style>
<main>
<h1>Emulator</h1>
<form method="post" action="/_emulator/sign-in">
<label for="token">Control token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus${problem !== undefined ? raw(' aria-invalid="true" aria-describedby="wrong"') : ''}>
${problem !== undefined ? html`<p id="wrong" role="alert">${problem}</p>` : ''}
<button>Sign in</button>
</form>
<p>The value of <code>--control-token</code> that the emulator was started with.</p>
</main>
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

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d5d9de, #3a4048); --accent: light-dark(#0b5cad, #7ab8ff); }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; background: light-dark(#fff, #14171a); color: light-dark(#16191d, #e7eaee); }
main { max-width: 24rem; margin: 0 auto; padding: 15vh 1rem 4rem; }
h1 { font-size: 1.5rem; } code { font-family: ui-monospace, monospace; font-size: .875em; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
form { display: grid; gap: .5rem; } input, button { font: inherit; padding: .5rem .6rem; border: 1px solid var(--line); border-radius: 6px; }
button { background: var(--accent); color: light-dark(#fff, #14171a); border-color: transparent; } [role=alert] { color: light-dark(#b3261e, #ff8a80); margin: 0; }
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
