/** Whether tests run at length: in `npm run chaos`, which CI runs too. `npm test` has their short forms. */
export const AT_LENGTH = process.env.ENDURANCE === '1';

/** In `npm test` what is the same in every browser is tried in one. */
export const isTried = ({ name }: { name: string }): boolean => AT_LENGTH || name === 'Chromium';

/** A number of rounds, calls or bytes: as many as show a mistake in a second or two, or as many as the promise names. */
export function atLength(short: number, long: number): number {
  return AT_LENGTH ? long : short;
}
