import { testFairShares } from './fair-shares.js';

testFairShares(', far away or with a wrong clock,', 'latency', 'clock');
