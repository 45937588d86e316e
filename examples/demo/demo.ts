/** Everything the service does, over real HTTP against the emulator in this process. Run: npm run demo */
import {
  type APIError,
  type CompactionLevel,
  ContextClient,
  type ConversationContext,
  GatewayClient,
  PermissionDeniedError,
} from 'context-gateway';
import { createConversation } from 'context-gateway/conversation';
import { createEmulator, emulatorStore } from 'context-gateway-emulator';
import { DECISION, LOSSES, SECRET, conversation as script } from './conversation.js';
import { bar, chapter, cut, fact, list, number, paint, print } from './terminal.js';

// Paced like a model, so that the streamed answer can be watched.
const emulator = createEmulator({ pace: { ttft: 200, tokensPerSecond: 40 } });
const { url: baseURL } = await emulator.listen({ port: 0 });
const { id: conversationId, messages } = emulator.conversations.create({ messages: script });

await using gateway = new GatewayClient({ baseURL, apiKey: emulator.apiKeys.secret });
await using context = new ContextClient({ baseURL, sessionToken: emulator.sessionToken });

print(paint('bold', `context-gateway against the emulator at ${baseURL}`));
print(
  `A ferry line plans its new booking service: ${messages.length} messages. The app can keep them all; a model cannot.`,
);

// ---------------------------------------------------------------------------------------------------------------------
chapter('What the service keeps of the conversation', 'context.retrieve(conversationId)');
const fresh = await context.retrieve(conversationId);
showFigures(fresh);

chapter('A decision is pinned, a pasted password is left out', 'context.pin(…), context.exclude(…)');
const decisive = messageWith(DECISION);
const secret = messageWith(SECRET);
const pinned = await context.pin(conversationId, decisive.id, { category: 'decision' });
await context.exclude(conversationId, secret.id);
fact('pinned', `“${cut(pinned.content, 90)}”`);
fact('excluded', `“${cut(secret.content.replace(SECRET, '•'.repeat(SECRET.length)), 90)}”`);

chapter('Something to remember about the user', 'context.memory.create(…), context.memory.list(…)');
await context.memory.create({ type: 'preference', key: 'style', content: 'Short answers with numbers.' });
await context.memory.create({
  type: 'constraint',
  key: 'privacy',
  content: 'Number plates are deleted after 90 days.',
});
for (const { type, key, content } of await context.memory.list()) fact(`${type} ${key}`, content);

// ---------------------------------------------------------------------------------------------------------------------
chapter('Compaction, level by level', 'context.compact(conversationId, { level })');
const { totalTokens } = (await context.retrieve(conversationId)).metadata; // without the excluded message
print(`   ${'whole'.padEnd(12)} ${bar(1)} ${number(totalTokens)} tokens`);
for (const level of ['light', 'deep', 'aggressive'] satisfies CompactionLevel[]) {
  const { newTokenCount, tokensRemoved, summaryUpdated } = await context.compact(conversationId, { level });
  const change = summaryUpdated ? 'summary rewritten' : 'summary unchanged';
  print(
    `   ${level.padEnd(12)} ${bar(newTokenCount / totalTokens)} ${number(newTokenCount)} tokens, ${number(tokensRemoved)} removed, ${change}`,
  );
  if (level === 'light') showSummary(await context.retrieve(conversationId));
}

chapter('What is left after the strongest level', 'context.retrieve(conversationId)');
const compact = await context.retrieve(conversationId);
showSummary(compact);
showFigures(compact);
fact(
  'pinned message',
  compact.pinnedMemory.some(({ messageId }) => messageId === decisive.id) ? 'still there, word for word' : 'LOST',
);
fact('the password', JSON.stringify(compact).includes(SECRET) ? 'STILL THERE' : 'nowhere in it');

// ---------------------------------------------------------------------------------------------------------------------
chapter(
  'A completion, token by token, from the compact context',
  'gateway.chat.completions.create({ …, stream: true })',
);
const model = emulator.models.list()[0]?.id ?? '';
const question = 'What did we decide to use for the new booking service, and why?';
print(`   ${paint('dim', question)}`);
const stream = await gateway.chat.completions.create({
  model,
  messages: [{ role: 'user', content: `What we know:\n${asText(compact)}\n\n${question}` }],
  stream: true,
});
process.stdout.write('   ');
for await (const text of stream.textStream) process.stdout.write(paint('yellow', text));
const { usage } = await stream.finalCompletion();
const { timeToFirstChunk = 0, chunks, duration } = stream.metrics;
print(
  `\n   ${paint('dim', `${chunks} chunks in ${duration.toFixed(0)} ms, the first after ${timeToFirstChunk.toFixed(0)} ms; ${usage?.total_tokens} tokens`)}`,
);

chapter('A preset', 'gateway.presets.list(), gateway.presets.execute(…)');
const presets = await gateway.presets.list({ limit: 10 });
fact('presets', presets.map(({ id }) => id).join(', '));
const result = await gateway.presets.execute('meeting-decisions', { input: asText(compact), model });
fact('meeting-decisions', cut(JSON.stringify(result.output ?? result), 100));

chapter('A file', 'gateway.files.upload({ file, purpose })');
const minutes = new Blob([messages.map(({ role, content }) => `${role}: ${content}\n`).join('')], {
  type: 'text/plain',
});
const file = await gateway.files.upload({ file: minutes, purpose: 'reference', filename: 'minutes.txt' });
fact('uploaded', `${file.id}, ${number(minutes.size)} bytes`);

chapter('An integration posts a message', "gateway.integrations.execute('team-chat', { action, … })");
const text = `Decided: ${compact.rollingSummary.decisions[0]?.decision ?? pinned.content}`;
const posted = await gateway.integrations.execute('team-chat', { action: 'post_message', channel: '#booking', text });
fact('posted', `${String(posted.status)} as ${posted.id}: “${cut(text, 80)}”`);

// ---------------------------------------------------------------------------------------------------------------------
chapter('What it used', 'gateway.usage.retrieve(), client.rateLimit');
const report = await gateway.usage.retrieve();
fact('period', `${report.period.start} to ${report.period.end}`);
fact('tokens', `${number(report.tokens_used)} of ${number(report.tokens_included)} included`);
for (const [id, tokens] of Object.entries(report.breakdown_by_model))
  fact(`  ${id}`, `${bar(tokens / report.tokens_used, 20)} ${number(tokens)}`);
for (const [bucket, { remaining, limit, resetAt }] of Object.entries(gateway.rateLimit)) {
  fact(
    `limit of ${bucket}`,
    `${remaining} of ${limit} requests left until ${resetAt?.toISOString().slice(11, 19)} UTC`,
  );
}

chapter('A refusal, as a typed error', 'new GatewayClient({ apiKey: publishable }).usage.retrieve()');
await using visitor = new GatewayClient({ baseURL, apiKey: emulator.apiKeys.publishable });
try {
  await visitor.usage.retrieve();
} catch (error) {
  if (!(error instanceof PermissionDeniedError)) throw error;
  showRefusal(error);
}

// ---------------------------------------------------------------------------------------------------------------------
chapter('A conversation that keeps itself within its window', 'createConversation({ … }), conversation.stream(…)');
const { id: longTalk } = emulator.conversations.create({ messages: script });
await using talk = createConversation({
  context,
  gateway,
  conversationId: longTalk,
  model,
  store: emulatorStore(emulator),
  contextWindow: 1500,
  onCompaction: ({ tokens, diff, onlyInHistory }) =>
    fact(
      'compacted',
      `${number(tokens.before)} to ${number(tokens.after)} tokens, ${onlyInHistory} messages only in the history, ${diff.lost.length} statements lost`,
    ),
});
await talk.compact('light');
await talk.compact('aggressive');
const lost = await talk.lost();
const [words = '', asked = ''] = LOSSES.find(([some]) => lost.some(({ text }) => text.includes(some))) ?? [];
fact('one of them', `“${cut(lost.find(({ text }) => text.includes(words))?.text ?? '', 90)}”`);
print(`   ${paint('dim', asked)}`);
process.stdout.write('   ');
const reply = talk.stream(asked);
for await (const text of reply) process.stdout.write(paint('yellow', text));
const { recalled, tokens } = (await reply.final()).report;
print();
const found = recalled.find(({ text }) => text.includes(words));
fact(
  'the lost one',
  found === undefined ? 'DID NOT COME BACK' : `came back: ${found.createdAt?.slice(0, 10)}, ${found.role}`,
);
fact('the prompt', `${number(tokens.total)} tokens, of a conversation of ${number(totalTokens)}`);

await emulator.close();
print(`\n${paint('bold', 'That was all of it.')} Start the emulator for your own program: npm run emulator\n`);

function messageWith(words: string): { id: string; content: string } {
  const found = messages.find(({ content }) => content.includes(words));
  if (found === undefined) throw new Error(`no message with: ${words}`);
  return found;
}

function showFigures({ metadata, rollingSummary }: ConversationContext): void {
  fact('the conversation', `${number(metadata.totalTokens)} tokens`);
  fact('its context', `${bar(metadata.preservationRatio)} ${number(metadata.compressedTokens)} tokens`);
  fact('kept word for word', `the last ${metadata.recentMessageCount} messages`);
  fact('summary', `version ${rollingSummary.version}`);
}

function showSummary({ rollingSummary }: ConversationContext): void {
  const { goals, decisions, requirements, openQuestions, definitions, importantReferences } = rollingSummary;
  list('goals', goals, 2);
  list(
    'decisions',
    decisions.map(({ decision, reason }) => (reason ? `${decision} (${reason})` : decision)),
  );
  list('requirements', requirements);
  list('open questions', openQuestions, 2);
  list(
    'definitions',
    Object.entries(definitions).map(([term, meaning]) => `${term}: ${meaning}`),
    2,
  );
  list(
    'references',
    importantReferences.map(({ type, value }) => `${type}: ${value}`),
    2,
  );
}

/** The context as an app would hand it to a model. */
function asText({ rollingSummary, pinnedMemory }: ConversationContext): string {
  const { goals, decisions, requirements } = rollingSummary;
  const lines = [
    ...pinnedMemory.map(({ content }) => content),
    ...decisions.map(({ decision, reason }) => `${decision} ${reason}`),
    ...goals,
    ...requirements,
  ];
  return lines.join('\n');
}

function showRefusal(error: APIError): void {
  fact('class', paint('red', error.name));
  fact('message', error.message);
  fact(
    'facts',
    `status ${error.status}, type ${error.type}, request ${error.requestId}, retryable: ${error.retryable}`,
  );
}
