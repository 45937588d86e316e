import { nfkc, startOf, toWellFormed } from './unicode.js';

/** Characters. A longer name would take the room of messages. */
const LONGEST = 80;
/** Characters that are read of a name. */
const READ = 1000;
const ROLES = /^(?:user|assistant|system|developer|tool|model|summary)$/;

/** The name of a speaker, unless it is a role: a user called "assistant" must not be quoted as the model. */
export function speakerOf({ name = '' }: { name?: string | undefined }): string | undefined {
  const plain = nfkc(startOf(name, READ)).replace(/[\][\s]+/g, ' ');
  const speaker = startOf(plain.trim(), LONGEST);
  const letters = speaker.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  return letters === '' || ROLES.test(letters) ? undefined : toWellFormed(speaker);
}
