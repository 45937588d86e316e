/** Vitest's `expect` without its runner, so that cases in a page use the same assertions. */
import { chai, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from '@vitest/expect';

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

// The matchers are chai assertions. Only the runner has the type of `expect`.
export const expect = chai.expect;
