import { beforeAll, vi } from 'vitest';
import { AT_LENGTH } from '../../test/helpers/endurance.js';
import { STORAGE_OF_TESTS } from './support.js';

// Runs the same tests with the state stored in a file.
vi.stubEnv(STORAGE_OF_TESTS, 'file');
await import('./state.test.js');
if (AT_LENGTH) {
  await import('./context.test.js');
  await import('./control.test.js');
  await import('./emulator.test.js');
  await import('./gateway.test.js');
  await import('./refusals.test.js');
  await import('./account.test.js');
}

beforeAll(() => () => vi.unstubAllEnvs());
