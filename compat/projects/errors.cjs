/**
 * Every error class exists only once in CommonJS as well: an error from any file of the package is an instance of the
 * class that a program requires. Prints the number of classes.
 */
const assert = require('node:assert');
const { readdirSync } = require('node:fs');
const { dirname, join } = require('node:path');
const sdk = require('context-gateway');

const isErrorClass = (value) => typeof value === 'function' && value.prototype instanceof Error;

function checkFolder(folder, files, index) {
  // Skipped: the program, which would start, and two entries whose optional peers are not installed here.
  for (const file of files.filter((one) => /(?<!^(cli|ai-sdk|otel))\.cjs$/.test(one))) {
    for (const [name, value] of Object.entries(require(join(folder, file))).filter(([, one]) => isErrorClass(one))) {
      const isNew = !(value.name in index) && value.prototype instanceof index.ContextGatewayError; // only in another entry
      if (name.startsWith('$Zod')) continue; // zod is bundled
      assert(isNew || Object.values(index).includes(value), `${file} has a class ${name} of its own`);
    }
  }
}

async function main() {
  // Node's build, and that for pages and workers, which Jest with jsdom and Metro load as CommonJS.
  const dist = dirname(require.resolve('context-gateway'));
  checkFolder(dist, readdirSync(dist), sdk);
  const web = join(dist, 'web');
  checkFolder(web, readdirSync(web, { recursive: true }), require(join(web, 'index.cjs')));

  // The ES module build is a second copy of the package. `is` must recognize its errors too.
  const imported = await import('context-gateway');
  for (const { GatewayClient, NotFoundError } of [sdk, imported]) {
    const gateway = new GatewayClient();
    const messages = [{ role: 'user', content: 'Where do we keep invoices?' }];
    const error = await gateway.chat.completions.create({ model: 'none', messages }).catch((one) => one);
    assert(error instanceof NotFoundError, `instead of a NotFoundError: ${error}`);
    assert(sdk.NotFoundError.is(error) && sdk.ContextGatewayError.is(error), 'is() does not know it');
    await gateway.close();
  }
  console.log(`${Object.values(sdk).filter(isErrorClass).length} classes`);
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
