import { testFairShares } from './fair-shares.js';

testFairShares(', while Redis fails,', 'emptied', 'outage', 'frozen');
