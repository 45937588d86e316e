/** Uses the package's schemas with the project's own zod: nested, converted, as Standard Schema. Prints the count. */
import assert from 'node:assert';
import * as schemas from 'context-gateway/schemas';
import * as z from 'zod';
import * as mini from 'zod/mini';

const { usageReportSchema, userMemoryItemSchema } = schemas;
const item = { id: '1', type: 'fact', key: 'k', content: 'c', addedLater: true };

for (const zod of [z, mini]) {
  const nested = zod.object({ item: userMemoryItemSchema, list: zod.array(userMemoryItemSchema) });
  assert.deepStrictEqual(nested.parse({ item, list: [item] }), { item, list: [item] });
  const { error } = nested.safeParse({ item: { ...item, id: 5 }, list: [] });
  assert.deepStrictEqual(
    error?.issues.map(({ path }) => path),
    [['item', 'id']],
  );
  for (const schema of Object.values(schemas)) {
    assert(schema instanceof zod.core.$ZodType);
    assert.strictEqual(zod.toJSONSchema(schema).type, 'object');
  }
}

const result = await userMemoryItemSchema['~standard'].validate({ ...item, key: undefined });
assert.deepStrictEqual(
  result.issues?.map(({ path }) => path),
  [['key']],
);
assert(!z.compile(usageReportSchema).safeParse({}).success);
console.log(`${Object.keys(schemas).length} schemas`);
