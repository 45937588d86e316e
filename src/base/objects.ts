const EMPTY = {};

/** Reads a field of parsed JSON. Ignores inherited fields, which a polluted `Object.prototype` may add. */
export function ownField(body: object, name: string): unknown {
  return Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A copy of an object's own fields that inherits none, so that a polluted `Object.prototype` sets no option. Removing
 * the prototype takes a microsecond, so it is done only where something is inherited.
 */
export function ownProperties<Given extends object>(given: Given): Given {
  const own = { ...given };
  for (const _ in EMPTY) return Object.setPrototypeOf(own, null);
  return own;
}
