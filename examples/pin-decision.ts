/** Pin a decision, and exclude another message. Run: npm run example pin-decision */
import { ContextClient, NotFoundError } from 'context-gateway';

await using context = new ContextClient(); // address and session token from the environment
const conversation = 'conv_sample';

const pin = await context.pin(conversation, 'msg_sample_7', { category: 'decision' });
console.log(`Pinned as ${pin.category}: ${pin.content}`);

await context.exclude(conversation, 'msg_sample_3');
const { pinnedMemory } = await context.retrieve(conversation);
console.log(`${pinnedMemory.length} message pinned, one left out of the summary`);

await context.include(conversation, 'msg_sample_3');
await context.unpin(conversation, 'msg_sample_7');
try {
  await context.unpin(conversation, 'msg_sample_7');
} catch (error) {
  if (!(error instanceof NotFoundError)) throw error;
  console.log(`No longer pinned: ${error.message}`);
}
