import { join } from 'node:path';

const compat = join(import.meta.dirname, '../..');

/** `next` and the package are installed in `compat`, as in a monorepo. */
export default { turbopack: { root: compat }, outputFileTracingRoot: compat };
