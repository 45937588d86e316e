import type { Language } from '../text/language.js';
import type { CompletionRequest, FunctionDefinition } from '../upstream/model-source.js';
import type { ScriptedToolCall } from '../upstream/tool-calls.js';
import { argumentsFor } from './stand-in-arguments.js';

type Reading = Pick<Language, 'terms'>;

/**
 * Calls tools without a model, so that an agent can be tried: those whose name has a word of the newest user message, or whose
 * description has two. No tool is called twice in a turn. The same request always gets the same calls.
 */
export function standInCalls(request: CompletionRequest, language: Reading): ScriptedToolCall[] {
  const { messages, tools, tool_choice: choice, parallel_tool_calls: isParallel } = request;
  const functions = (tools ?? []).flatMap((tool) => tool.function ?? []);
  if (functions.length === 0 || choice === 'none') return [];
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const message = messages[at]?.content ?? '';
  const called = new Set(
    messages.slice(at + 1).flatMap((one) => one.tool_calls?.map((call) => call.function.name) ?? []),
  );
  const named = typeof choice === 'object' ? choice?.function?.name : undefined;
  const asked = askedFor(functions, message, language).filter(({ name }) => !called.has(name));
  const wanted = named === undefined ? asked : functions.filter(({ name }) => name === named);
  const isForced = wanted.length === 0 && choice === 'required';
  const chosen = isForced ? functions.slice(0, 1) : wanted.slice(0, isParallel === false ? 1 : undefined);
  return chosen.map((tool) => {
    const known = new Set(wordsOf(tool.name, language));
    const isKnown = (word: string): boolean => wordsOf(word, language).some((one) => known.has(one));
    const isNew = (word: string): boolean => wordsOf(word, language).length > 0 && !isKnown(word);
    const text = message.slice(-LONGEST);
    // What follows the word for a tool is about it: "the weather in Oslo and the tide in Bergen".
    const start = [...text.matchAll(/\S+/g)].find(([word]) => isKnown(word))?.index ?? 0;
    const turned = start === 0 ? text : `${text.slice(start)}. ${text.slice(0, start)}`;
    return { function: { name: tool.name, arguments: argumentsFor(tool.parameters, turned, isNew) } };
  });
}

/** The reply in JSON that a `response_format` with a schema asks for, from the newest user message as arguments are. */
export function standInJson({ messages, sent }: CompletionRequest, language: Reading): unknown {
  const { json_schema: format } = Object(sent?.response_format);
  const schema: unknown = Object(format).schema;
  if (schema === undefined) return undefined;
  const text = messages.findLast(({ role }) => role === 'user')?.content.slice(-LONGEST) ?? '';
  return argumentsFor(schema, text, (word) => wordsOf(word, language).length > 0);
}

/** The end of a message that arguments are taken from. */
const LONGEST = 2_000;

/** The functions that a message asks for, the best first. A word counts for one of them only: "create a ticket" is no invoice. */
function askedFor(functions: readonly FunctionDefinition[], message: string, language: Reading): FunctionDefinition[] {
  const words = new Set([...wordsOf(message, language), ...(message.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])]);
  const rated = functions.map((tool) => {
    const own = wordsOf(tool.name, language);
    const name = new Set(own.length > 0 ? own : [tool.name.toLowerCase()]); // a name of stop words, such as `ask`
    const about = new Set(wordsOf(tool.description ?? '', language));
    return { tool, name, about, score: scoreOf(name, about, words) };
  });
  rated.sort((a, b) => b.score - a.score);
  return rated.flatMap(({ tool, name, about }) => {
    if (scoreOf(name, about, words) === 0) return [];
    for (const word of [...name, ...about]) words.delete(word);
    return [tool];
  });
}

function scoreOf(name: ReadonlySet<string>, about: ReadonlySet<string>, words: ReadonlySet<string>): number {
  const shared = (of: ReadonlySet<string>): number => [...of].filter((word) => words.has(word)).length;
  const [inName, inAbout] = [shared(name), shared(about)];
  return inName > 0 || inAbout > 1 ? 2 * inName + inAbout : 0;
}

/** The words of a text that carry meaning, also those of `get_weather` and `getWeather`. */
function wordsOf(text: string, { terms }: Reading): readonly string[] {
  return terms(text.replace(/_|(?<=[a-z\d])(?=[A-Z])/g, ' '));
}
