/** The words of a text that carry meaning: in lower case, stemmed, in order, repeats included. */
export function contentTerms(text: string): string[] {
  const terms: string[] = [];
  for (const [word] of text.toLowerCase().matchAll(WORDS)) {
    if (UNSPACED.test(word)) {
      terms.push(...bigrams(word));
      continue;
    }
    const plain = word.replace(/['’]s$/, '').replace(/(?<![._\-'’])[._\-'’]+$/, '');
    if ((plain.length > 1 || /\d/.test(plain)) && !STOP_WORDS.has(plain)) terms.push(stem(IRREGULAR[plain] ?? plain));
  }
  return terms;
}

function stem(word: string): string {
  if (word.length < 4 || /\d/.test(word)) return word;
  const base = word
    .replace(/ision(s?)$/, 'id')
    .replace(/ies$/, 'y')
    .replace(/([^s])s$/, '$1');
  const shorter = base.replace(/(?<=.{3})(ing|ed)$/, '');
  return shorter.replace(/(?<=.{2})e$/, '').replace(/([bdfgmnprt])\1$/, '$1');
}

/** Scripts without spaces show no word boundaries, so pairs of characters stand in for words. */
function bigrams(run: string): string[] {
  const characters = [...run];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, i) => `${characters[i] ?? ''}${character}`);
}

const WORDS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+|[\p{L}\p{N}][\p{L}\p{N}\p{M}._\-'’]*/gu;
// The long vowel mark belongs to no script, but is part of Japanese words.
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/u;

/** Forms that share no stem with their verb. */
const IRREGULAR: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  bought: 'buy',
  built: 'build',
  chose: 'choose',
  chosen: 'choose',
  held: 'hold',
  kept: 'keep',
  left: 'leave',
  lost: 'lose',
  met: 'meet',
  paid: 'pay',
  ran: 'run',
  sent: 'send',
  sold: 'sell',
  wrote: 'write',
  written: 'write',
});

const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above actually after again all also am an and any anyway are aren't as at basically be because been before being
  below between both but by came can can't come could couldn't did didn't do does doesn't doing don't down each else er erm
  even few for from further get gets getting go goes going gonna got had has hasn't have haven't having he he's her here hers
  him his hmm how i i'd i'll i'm i've if in into is isn't it it's its itself just kind know let let's like lot made make
  many may maybe me mean might mm mm-hmm more most much my no nor not now of off oh ok okay on once one only or other our
  out over own perhaps please put quite rather really right said same say says see seem she should shouldn't so some
  something sort still stuff such sure take tell than that that's the their them then there there's these they they're
  they've thing things think this those though through to too uh uh-huh um under until up us very want wanna was wasn't
  way we we'd we'll we're we've well were weren't what what's when where whether which while who whom why will with won't
  would wouldn't yeah yep yes yet you you'd you'll you're you've your yours`.split(/\s+/),
);
