import type { faultInJson } from '../../src/faults/faults.js';
import type { FaultRule } from '../../src/faults/rule.js';

/** An active rule, as the control plane returns it. */
export type ShownFault = ReturnType<typeof faultInJson>;

/** The number of times for a rule that stays until it is switched off. */
export const ALWAYS = 1_000_000_000;

/** A fault with a switch. */
export interface FaultSwitch {
  name: string;
  note: string;
  rule: FaultRule;
}

const fault = (name: string, note: string, respond: FaultRule['respond'], path?: string): FaultSwitch => {
  return { name, note, rule: path === undefined ? { respond } : { match: { path }, respond } };
};
const COMPLETIONS = '/v1/chat/completions';

export const SWITCHES: readonly FaultSwitch[] = [
  fault('Gateway busy', 'Every /v1 call gets a 429, to retry after 5\u00a0s', { status: 429, retryAfter: 5 }, '/v1/*'),
  fault('Gateway down', 'Every /v1 call gets a 503', { status: 503 }, '/v1/*'),
  fault('Context API fails', 'Every /api call gets a 500', { status: 500 }, '/api/*'),
  {
    ...fault('One in four fails', 'With a 503, at random from the seed', { status: 503 }),
    rule: { match: { probability: 0.25 }, respond: { status: 503 } },
  },
  fault('Slow', 'Every response two seconds late', { type: 'slow', delay: 2000 }),
  fault('Connections break', 'Before the work is done', { type: 'reset' }),
  fault('Responses get lost', 'The work is done, then the connection breaks', { type: 'reset', when: 'after' }),
  fault('Broken JSON', 'Half of every body', { type: 'malformed' }),
  fault('Slow bodies', 'Ten bytes every 50 ms', { type: 'drip', bytes: 10, every: 50 }),
  fault('Streams end early', 'After three events, without [DONE]', { type: 'cutStream', afterEvents: 3 }, COMPLETIONS),
  fault('Streams fall silent', 'After three events', { type: 'cutStream', afterEvents: 3, how: 'stall' }, COMPLETIONS),
  fault('Errors in streams', 'After three events', { type: 'streamError', afterEvents: 3 }, COMPLETIONS),
];

/** The active rule of a switch. */
export function activeRule(rules: readonly ShownFault[], { rule }: FaultSwitch): ShownFault | undefined {
  const wanted = JSON.stringify([rule.match ?? {}, rule.respond]);
  return rules.find(
    ({ match, respond, remaining }) => isAlways(remaining) && JSON.stringify([match, respond]) === wanted,
  );
}

/** A rule added in code may last for `Infinity`, which is null in JSON. */
function isAlways(remaining: number | null): boolean {
  return remaining === null || remaining > ALWAYS / 2;
}

/** A short name for a rule: that of its switch, or its effect and path. */
export function ruleName(rule: ShownFault): string {
  const known = SWITCHES.find((each) => activeRule([rule], each) !== undefined);
  if (known !== undefined) return known.name;
  const { respond, match } = rule;
  const what = 'status' in respond ? `status ${respond.status}` : respond.type;
  return `${what} on ${match.method ?? ''} ${match.path ?? 'every path'}`.replace('  ', ' ');
}
