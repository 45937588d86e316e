/** Whether tests run at full length, as in `npm run chaos`. `npm test` and `npm run test:system` run them short. */
export const AT_LENGTH = process.env.ENDURANCE === '1';

/** `npm run test:system` uses only Chromium for tests that are the same in every browser, and only undici for long ones and behind every proxy. */
export const isTried = ({ name, engine }: { name?: string; engine?: string }): boolean =>
  AT_LENGTH || name === 'Chromium' || engine === 'undici';

/** A number of rounds, calls or bytes: enough to find a mistake within a second, or as many as we document. */
export function atLength(short: number, long: number): number {
  return AT_LENGTH ? long : short;
}
