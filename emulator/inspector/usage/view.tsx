import type { Overview } from '../../src/control/overview.js';
import type { RequestSummary } from '../../src/http/request-log.js';
import type { Plan } from '../../src/store/account.js';
import { Card, Empty, ErrorLine, Figure, Title } from '../parts/card.js';
import { type Column, ColumnChart } from '../parts/chart.js';
import { Gauge } from '../parts/gauge.js';
import { ask } from '../service/control.js';
import { requests } from '../service/live.js';
import { useLoaded } from '../service/use-loaded.js';
import { count, plural, timeOf } from '../service/words.js';

/** Used tokens by day and model, and the state of the rate limits. */
export function UsageView() {
  const topics = ['usage', 'account', 'requests', 'clock'];
  const { data, error } = useLoaded('overview', () => ask<Overview>('GET', '/overview'), topics);
  const account = useLoaded('account', () => ask<{ plan: Plan }>('GET', '/account'), ['account']);
  const plan = account.data?.plan;
  return (
    <>
      <Title name="Usage and limits">
        {data && `${data.usage.period.start} to ${data.usage.period.end}`}
        {plan && ` · ${plan.id} plan, ${count(plan.pricePerMonth)} USD a month`}
      </Title>
      <ErrorLine>{error}</ErrorLine>
      {data && <TokensCard overview={data} />}
      {data && <LimitsCard buckets={data.buckets} />}
      <RequestsCard perMinute={data?.buckets.find(({ name }) => name === 'gateway')?.limit ?? plan?.limits.gateway} />
    </>
  );
}

function TokensCard({ overview: { usage, usageByDay } }: { overview: Overview }) {
  const models = [...new Set(usageByDay.map(({ model }) => model))].sort();
  const kindOf = (model: string): string => `series-${models.indexOf(model) % SERIES}`;
  const days = [...new Set(usageByDay.map(({ day }) => day))].sort();
  const columns = days.map(
    (day): Column => ({
      name: day.slice(5),
      parts: usageByDay
        .filter((entry) => entry.day === day)
        .map(({ model, tokens }) => ({ kind: kindOf(model), name: model, value: tokens })),
    }),
  );
  const total = usageByDay.reduce((sum, { tokens }) => sum + tokens, 0);
  return (
    <Card title="Tokens">
      <div class="figures">
        <Figure value={count(usage.tokens_used)}>used</Figure>
        <Figure value={count(usage.tokens_remaining)}>left of {count(usage.tokens_included)}</Figure>
        <Figure value={count(usage.overage_tokens)}>overage</Figure>
        <Figure value={`${usage.estimated_overage_cost.toFixed(2)} USD`}>estimated overage cost</Figure>
      </div>
      {columns.length === 0 ? (
        <Empty>No tokens were used in the last 31 days. Ask something in the playground.</Empty>
      ) : (
        <ColumnChart
          label={`Tokens by day and model: ${count(total)} on ${plural(days.length, 'day')}`}
          columns={columns}
          legend={models.map((model) => ({ name: model, kind: kindOf(model) }))}
        />
      )}
      <ul class="facts" aria-label="This month, by model">
        <li class="soft">This month</li>
        {Object.entries(usage.breakdown_by_model).map(([model, tokens]) => (
          <li key={model}>
            <code>{model}</code> <strong>{count(tokens)}</strong>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function LimitsCard({ buckets }: { buckets: Overview['buckets'] }) {
  return (
    <Card title="Rate limits" aside={<span class="soft">active windows</span>}>
      {buckets.length === 0 && <Empty>No request yet.</Empty>}
      <ul class="limits">
        {buckets.map(({ name, limit, remaining, resetAt }) => (
          <li key={name}>
            <span>{name}</span>
            <Gauge
              shares={[{ kind: remaining === 0 ? 'bad' : 'summary', name: 'used', value: limit - remaining }]}
              total={limit}
              label={`${name}: ${count(limit - remaining)} of ${count(limit)} used`}
            />
            <small class="soft">
              {count(remaining)} of {count(limit)} left, until {timeOf(new Date(resetAt).toISOString())}
            </small>
          </li>
        ))}
      </ul>
    </Card>
  );
}

const MINUTE = 60_000;
const MOST_COLUMNS = 30;

function RequestsCard({ perMinute }: { perMinute: number | undefined }) {
  const columns = byMinute(requests.value);
  return (
    <Card title="Requests per minute" aside={<span class="soft">the last {count(requests.value.length)}</span>}>
      {columns.length === 0 ? (
        <Empty>No request yet.</Empty>
      ) : (
        <ColumnChart
          label={`Requests by minute: ${plural(requests.value.length, 'request')}, ${requests.value.filter(isRateLimited).length} rate limited`}
          columns={columns}
          legend={[
            { name: 'succeeded', kind: 'good' },
            { name: 'rate limited (429)', kind: 'refused' },
            { name: 'failed', kind: 'failed' },
          ]}
          limit={perMinute === undefined ? undefined : { y: perMinute, text: `Gateway limit ${count(perMinute)}` }}
        />
      )}
      {perMinute !== undefined && columns.length > 0 && (
        <p class="soft">
          The Gateway's limit is {count(perMinute)} a minute. The line appears when requests come near it.
        </p>
      )}
    </Card>
  );
}

function isRateLimited({ status }: RequestSummary): boolean {
  return status === 429;
}

/** Requests of the newest minutes that have any. */
function byMinute(all: readonly RequestSummary[]): Column[] {
  const minutes = new Map<number, { good: number; refused: number; failed: number }>();
  for (const request of all) {
    const minute = Math.floor(Date.parse(request.receivedAt) / MINUTE);
    const counts = minutes.get(minute) ?? { good: 0, refused: 0, failed: 0 };
    minutes.set(minute, counts);
    if (isRateLimited(request)) counts.refused += 1;
    else if ((request.status ?? 500) >= 400 || (request.outcome !== 'answered' && request.outcome !== 'pending'))
      counts.failed += 1;
    else counts.good += 1;
  }
  return [...minutes]
    .sort(([a], [b]) => a - b)
    .slice(-MOST_COLUMNS)
    .map(([minute, { good, refused, failed }]) => ({
      name: new Date(minute * MINUTE).toISOString().slice(11, 16),
      parts: [
        { kind: 'good', name: 'succeeded', value: good },
        { kind: 'refused', name: 'rate limited', value: refused },
        { kind: 'failed', name: 'failed', value: failed },
      ],
    }));
}

const SERIES = 6;
