/** What `dist/browser.js` contains, for a page without a bundler. */
export { readTurn } from './conversation/index.js';
export * from './index.js';
