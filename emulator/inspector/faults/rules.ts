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

const COMPLETIONS = '/v1/chat/completions';

export const SWITCHES: readonly { group: string; switches: readonly FaultSwitch[] }[] = [
  {
    group: 'Error responses',
    switches: [
      {
        name: 'Gateway busy',
        note: 'Every /v1 call gets a 429, to retry after 5\u00a0s',
        rule: { match: { path: '/v1/*' }, respond: { status: 429, retryAfter: 5 } },
      },
      {
        name: 'Gateway down',
        note: 'Every /v1 call gets a 503',
        rule: { match: { path: '/v1/*' }, respond: { status: 503 } },
      },
      {
        name: 'Context API fails',
        note: 'Every /api call gets a 500',
        rule: { match: { path: '/api/*' }, respond: { status: 500 } },
      },
      {
        name: 'One in four fails',
        note: 'With a 503, at random from the seed',
        rule: { match: { probability: 0.25 }, respond: { status: 503 } },
      },
    ],
  },
  {
    group: 'Connections and bodies',
    switches: [
      { name: 'Slow', note: 'Every response two seconds late', rule: { respond: { type: 'slow', delay: 2000 } } },
      { name: 'Connections break', note: 'Before the work is done', rule: { respond: { type: 'reset' } } },
      {
        name: 'Responses get lost',
        note: 'The work is done, then the connection breaks',
        rule: { respond: { type: 'reset', when: 'after' } },
      },
      { name: 'Broken JSON', note: 'Half of every body', rule: { respond: { type: 'malformed' } } },
      { name: 'Slow bodies', note: 'Ten bytes every 50 ms', rule: { respond: { type: 'drip', bytes: 10, every: 50 } } },
    ],
  },
  {
    group: 'Streams',
    switches: [
      {
        name: 'Streams end early',
        note: 'After three events, without [DONE]',
        rule: { match: { path: COMPLETIONS }, respond: { type: 'cutStream', afterEvents: 3 } },
      },
      {
        name: 'Streams fall silent',
        note: 'After three events',
        rule: { match: { path: COMPLETIONS }, respond: { type: 'cutStream', afterEvents: 3, how: 'stall' } },
      },
      {
        name: 'Errors in streams',
        note: 'After three events',
        rule: { match: { path: COMPLETIONS }, respond: { type: 'streamError', afterEvents: 3 } },
      },
    ],
  },
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
  const known = SWITCHES.flatMap(({ switches }) => switches).find((each) => activeRule([rule], each) !== undefined);
  if (known !== undefined) return known.name;
  const { respond, match } = rule;
  const what = 'status' in respond ? `status ${respond.status}` : respond.type;
  return `${what} on ${match.method ?? ''} ${match.path ?? 'every path'}`.replace('  ', ' ');
}

/** How long a rule remains active. */
export function remainingText({ remaining }: ShownFault): string {
  if (isAlways(remaining)) return 'until switched off';
  return remaining === 1 ? 'one more time' : `${remaining} more times`;
}
