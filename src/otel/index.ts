export { type Observable, type ObserveOptions, observe } from './observe.js';
