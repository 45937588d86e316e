/** Reads a field of parsed JSON. Ignores inherited fields, which a polluted `Object.prototype` may add. */
export function ownField(body: object, name: string): unknown {
  return Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A copy without a prototype, so that a polluted `Object.prototype` sets no option. `{ __proto__: null, ...given }` is
 * much slower.
 */
export function ownProperties<Given extends object>(given: Given): Given {
  return Object.setPrototypeOf({ ...given }, null);
}
