export { type Observable, type ObserveOptions, observe } from './observe.js';
export { observeTools } from './observe-tools.js';
