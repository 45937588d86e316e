const sdk = require('context-gateway');

import('./suite.js').then(async ({ runSuite }) => console.log(JSON.stringify(await runSuite(sdk, process.argv[2]))));
