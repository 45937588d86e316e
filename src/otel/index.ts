export { observeCalls } from './observe-calls.js';
export { observeTools } from './observe-tools.js';
