/** The question of every part, and the text of a streamed answer. */
export const params = {
  model: 'atlas-small',
  messages: [
    { role: 'system', content: 'We decided to keep invoices in PostgreSQL.' },
    { role: 'user', content: 'Where do we keep invoices?' },
  ],
};

export async function streamedText(gateway) {
  const stream = await gateway.chat.completions.create({ ...params, stream: true });
  let text = '';
  for await (const piece of stream.textStream) text += piece;
  return text;
}
