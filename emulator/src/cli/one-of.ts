/** The value, if it is one of those allowed; a RangeError names them. */
export function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new RangeError(`${name} ${value}: not one of ${allowed.join(', ')}`);
  return found;
}
