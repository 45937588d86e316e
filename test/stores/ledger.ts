import type { StoredMessage } from 'context-gateway/conversation';
import type { ModelCall } from './model-server.js';

/** How a store of the test is wrong: it does not check `edits`, or `newest`, stores a message twice, or loses replies. */
export type Mutant = 'edits' | 'newest' | 'twice' | 'lost';

/** What a page asks of a chat server. */
export interface Command {
  how: 'send' | 'stream' | 'regenerate' | 'edit' | 'messages' | 'stop';
  /** Its number, also of the one that is stopped. */
  call: number;
  talk: string;
  input?: { id: string; role: 'user'; content: string }[];
  id?: string;
  text?: string;
  newest?: string | null | undefined;
}

/** How it ended. */
export interface Answer {
  call: number;
  turn?: { text: string; stopped: boolean; messages: readonly StoredMessage[] };
  messages?: readonly StoredMessage[];
  error?: { name: string; message: string; isStore: boolean; isConflict: boolean; reply?: string | undefined };
  /** Whether it stored its question, or found it stored when it began: otherwise it is being asked elsewhere. */
  mayAsk?: boolean;
}

/** What the parent knows of a call. Without an answer, its server was killed. */
export interface Call {
  command: Command;
  answer?: Answer | undefined;
  /** The first click, of the second one in the same process. */
  first?: number | undefined;
}

/** A message that was added or removed, in the order of the commits. */
export interface Entry {
  talk: string;
  id: string;
  position: number;
  role: string;
  content: string;
  replyTo?: string | undefined;
  stopped?: boolean | undefined;
  added: boolean;
  /** How often the conversation was edited before. */
  edits: number;
  /** In milliseconds since 1970, before the commit. */
  at: number;
}

export interface StoredTalks {
  journal: readonly Entry[];
  rows: readonly Pick<Entry, 'talk' | 'id' | 'position' | 'content'>[];
  counts: ReadonlyMap<string, number>;
}

/** Those of an edit, or of a reply that replaces others, or one message. */
interface Commit {
  edits: number;
  removed: Entry[];
  added: Entry[];
}

/** Errors of turns whose model, store or page fails. Others are mistakes. */
const EXPECTED =
  /^(Conversation(Conflict|Store)Error|InternalServerError|StreamTruncatedError|APIConnectionError|AbortError)$/;
const REMOVED = /messageId: must be the id|no message of the user/;

/** Finds what must not happen, in what pages were told, the model was asked, and the database has. */
export class Audit {
  readonly wrong: string[] = [];
  readonly #answers = new Map<string, ModelCall>();
  /** What pages sent: each text once. */
  readonly #sent = new Map<string, { id: string | undefined; talk: string }>();

  constructor(
    private readonly calls: readonly Call[],
    private readonly model: readonly ModelCall[],
    private readonly stored: StoredTalks,
  ) {
    for (const call of model) this.#answers.set(call.text.split(' ')[0] ?? '', call);
    for (const { command } of calls) {
      const { talk, id, text, input = [] } = command;
      if (text !== undefined) this.#sent.set(text, { id, talk });
      for (const message of input) this.#sent.set(message.content, { id: message.id, talk });
    }
    this.#checkTalks();
    this.#checkAcknowledged();
    this.#checkCalls();
  }

  /** Plays the journal, and compares its end with what is stored. */
  #checkTalks(): void {
    const { journal, rows, counts } = this.stored;
    for (const talk of new Set([...journal, ...rows].map((entry) => entry.talk))) {
      let messages: readonly Entry[] = [];
      for (const commit of commitsOf(journal.filter((entry) => entry.talk === talk)))
        messages = this.#played(messages, commit);
      const stored = rows.filter((row) => row.talk === talk);
      const isSame = stored.every(
        ({ id, content, position }, at) =>
          id === messages[at]?.id && content === messages[at]?.content && position === at,
      );
      if (!isSame || stored.length !== messages.length || counts.get(talk) !== messages.length)
        this.wrong.push(`${talk} has other messages than its journal, or other positions, or another count`);
    }
  }

  #played(before: readonly Entry[], { removed, added }: Commit): readonly Entry[] {
    const gone = new Set(removed.map(({ id }) => id));
    const kept = before.filter(({ id }) => !gone.has(id));
    const replaced = before.slice(kept.length);
    if (replaced.length !== gone.size || replaced.some(({ id }) => !gone.has(id)))
      this.wrong.push(`messages were removed that are not the newest: ${show(removed[0])}`);
    if (replaced.length > 0) this.#checkReplaced(kept, replaced, added);
    const after = [...kept];
    for (const entry of added) {
      if (after.some(({ id, content }) => id === entry.id || content === entry.content))
        this.wrong.push(`stored twice: ${show(entry)}`);
      this.#checkAdded(entry, after);
      after.push(entry);
    }
    return after;
  }

  /** Only an edit removes a question, a reply only replies to its own question, and both only what they have seen. */
  #checkReplaced(kept: readonly Entry[], replaced: readonly Entry[], added: readonly Entry[]): void {
    const reply = added.at(-1);
    const asked = this.#answerOf(reply);
    const isEdit = added.some(({ id, role }) => role === 'user' && id === replaced[0]?.id);
    for (const old of replaced) {
      const isOwn = old.role === 'assistant' && this.#answerOf(old)?.question === asked?.question;
      const what = `${show(reply)} replaced ${show(old)}`;
      if (asked === undefined || old.at > asked.at) this.wrong.push(`${what}, which it never saw`);
      if (!isEdit && !isOwn) this.wrong.push(`${what}, which replies to another question`);
      if (!isEdit && reply?.stopped && !old.stopped) this.wrong.push(`${what}, which is whole`);
      const isLate = old.role === 'assistant' && kept.some(({ id }) => id === old.replyTo);
      if (isEdit && isLate && !added.some(({ id }) => id === old.id))
        this.wrong.push(`${what}, of an earlier question`);
    }
  }

  /** All was sent by a page, or answered by the model to the question that is stored before it. */
  #checkAdded(entry: Entry, before: readonly Entry[]): void {
    const { id, talk, role, content, replyTo, stopped = false } = entry;
    if (role === 'user') {
      const sent = this.#sent.get(content);
      if (sent?.id !== id || sent.talk !== talk) this.wrong.push(`no page sent ${show(entry)}`);
      return;
    }
    const asked = this.#answerOf(entry);
    const isAnswer = stopped ? asked?.text.startsWith(content) : asked?.text === content;
    if (!isAnswer) this.wrong.push(`the model did not answer ${show(entry)}`);
    const question = before.find((message) => message.id === replyTo);
    if (question?.role !== 'user' || question.content !== asked?.question)
      this.wrong.push(`${show(entry)} replies to ${show(question)}`);
  }

  #checkAcknowledged(): void {
    const added = this.stored.journal.filter((entry) => entry.added);
    const keyOf = (talk: string, id: string, content: unknown): string => `${talk} ${id} ${content}`;
    const known = new Set(added.map(({ talk, id, content }) => keyOf(talk, id, content)));
    const texts = new Set(added.map(({ content }) => content));
    for (const { command, answer } of this.calls) {
      const { text, stopped, messages = [] } = answer?.turn ?? {};
      for (const { id, content } of messages)
        if (!known.has(keyOf(command.talk, id, content))) this.wrong.push(`acknowledged, and not stored: "${content}"`);
      if (stopped === false && !texts.has(text ?? '')) this.wrong.push(`acknowledged, and not stored: "${text}"`);
    }
  }

  /** The model is asked at most once for each call, and all errors are expected ones. */
  #checkCalls(): void {
    const made = new Map<number, number>();
    for (const { call } of this.model) made.set(call, (made.get(call) ?? 0) + 1);
    const removed = new Set(this.stored.journal.flatMap((entry) => (entry.added ? [] : entry.id)));
    const stored = new Set<string | undefined>(this.stored.rows.map(({ content }) => content));
    for (const { command, answer, first } of this.calls) {
      const count = made.get(command.call) ?? 0;
      const { turn, error, mayAsk } = answer ?? {};
      if (count > 1) this.wrong.push(`${command.how} asked the model ${count} times`);
      if (count > 0 && mayAsk === false) this.wrong.push('a question was sent that is being asked elsewhere');
      if (count > 0 && error?.isStore && error.reply === undefined)
        this.wrong.push(`an error after a reply, without it: ${error.name}`);
      if (error?.isConflict && stored.has(error.reply)) this.wrong.push(`a conflict, and stored: "${error.reply}"`);
      if (error && !EXPECTED.test(error.name) && !REMOVED.test(error.message))
        this.wrong.push(`${command.how}: ${error.message}`);
      const other = first === undefined ? undefined : this.calls[first]?.answer?.turn;
      if (other === undefined || other.stopped || removed.has(command.input?.[0]?.id ?? '')) continue;
      if (count > 0) this.wrong.push('a double click in one process asked the model twice');
      if (turn !== undefined && turn.text !== other.text) this.wrong.push('a double click got two replies');
    }
  }

  /** By its number, which also a reply has that was cut. */
  #answerOf(entry: Entry | undefined): ModelCall | undefined {
    return this.#answers.get(entry?.content.split(' ')[0] ?? '');
  }
}

/** What was removed and added in one step: `edits` counts the steps that remove. */
function commitsOf(entries: readonly Entry[]): Commit[] {
  const commits: Commit[] = [];
  for (const entry of entries) {
    const { added, edits } = entry;
    let last = commits.at(-1);
    const isSame = last !== undefined && last.removed.length > 0 && last.edits === edits;
    if (last === undefined || !isSame) {
      last = { edits, removed: [], added: [] };
      commits.push(last);
    }
    last[added ? 'added' : 'removed'].push(entry);
  }
  for (const { added } of commits) added.sort((a, b) => a.position - b.position);
  return commits;
}

function show(entry: Entry | undefined): string {
  return entry === undefined ? 'nothing' : `"${entry.content}" (${entry.id.slice(0, 8)}, ${entry.talk})`;
}
