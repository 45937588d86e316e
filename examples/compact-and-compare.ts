/** Compact a context at each level, and print what changes. Run: npm run example compact-and-compare */
import { ContextClient } from 'context-gateway';

await using context = new ContextClient();
const conversation = 'conv_sample';

const before = await context.summary(conversation);
for (const level of ['light', 'deep', 'aggressive'] as const) {
  const { previousTokenCount, newTokenCount, tokensRemoved } = await context.compact(conversation, { level });
  console.log(`${level.padEnd(10)} ${previousTokenCount} -> ${newTokenCount} tokens (${tokensRemoved} removed)`);
}
const after = await context.summary(conversation);

console.log(`The summary went from version ${before.version} to ${after.version}. It holds:`);
for (const { decision, reason } of after.decisions) console.log(`  decided: ${decision} ${reason && `(${reason})`}`);
for (const requirement of after.requirements) console.log(`  required: ${requirement}`);
for (const { type, value } of after.importantReferences) console.log(`  ${type}: ${value}`);
