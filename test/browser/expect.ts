/** Vitest's own `expect`, outside its runner: cases that run in a page assert with the same words. */
import { chai, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from '@vitest/expect';

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

// Its matchers are chai's assertions; the type of `expect` comes with the runner only.
export const expect = chai.expect;
