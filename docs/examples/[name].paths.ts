import { pages } from '../.vitepress/examples.js';

/** A page of the site for each example, made from its files, and their index. */
export default {
  paths: () => [...pages].map(([name, content]) => ({ params: { name }, content })),
};
