/** Returns the value if it is allowed. Throws a RangeError that lists the allowed values. */
export function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found === undefined) throw new RangeError(`${name} ${value}: not one of ${allowed.join(', ')}`);
  return found;
}
