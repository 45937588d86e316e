/** undici's pool alone: the whole package takes three times as long to load and replaces Node 20's global fetch dispatcher. */
declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}
