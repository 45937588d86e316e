import * as sdk from 'context-gateway';
import { runSuite } from './suite.js';

console.log(JSON.stringify(await runSuite(sdk, process.argv[2])));
