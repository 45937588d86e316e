import type { Overview } from '../../src/control/page/overview.js';
import type { Plan } from '../../src/store/account.js';
import { Card, ErrorLine, Figure, Title } from '../parts/card.js';
import { Gauge } from '../parts/gauge.js';
import { Item, Records } from '../parts/records.js';
import { useLoaded } from '../service/use-loaded.js';
import { count, timeOf } from '../service/words.js';
import { CostCard } from './cost-card.js';

/** Used tokens and their cost, and the state of the rate limits. */
export function UsageView() {
  const { data, error } = useLoaded<Overview>('/overview', ['usage', 'account', 'requests', 'clock']);
  const plan = useLoaded<{ plan: Plan }>('/account', ['account']).data?.plan;
  return (
    <>
      <Title name="Usage and limits">
        {data && `${data.usage.period.start} to ${data.usage.period.end}`}
        {plan && ` · ${plan.id} plan, ${count(plan.pricePerMonth)} USD a month`}
      </Title>
      <ErrorLine>{error}</ErrorLine>
      {data && (
        <Card title="Tokens">
          <div class="figures">
            <Figure value={count(data.usage.tokens_used)}>used</Figure>
            <Figure value={count(data.usage.tokens_remaining)}>left of {count(data.usage.tokens_included)}</Figure>
            <Figure value={count(data.usage.overage_tokens)}>overage</Figure>
            <Figure value={`${data.usage.estimated_overage_cost.toFixed(2)} USD`}>estimated overage cost</Figure>
          </div>
        </Card>
      )}
      <CostCard />
      {data && <LimitsCard buckets={data.buckets} />}
    </>
  );
}

function LimitsCard({ buckets }: { buckets: Overview['buckets'] }) {
  return (
    <Card title="Rate limits" aside={<span class="soft">active windows</span>}>
      <Records of={buckets} empty="No request yet.">
        {({ name, limit, remaining, resetAt }) => (
          <Item
            key={name}
            name={name}
            note={`${count(remaining)} of ${count(limit)} left, until ${timeOf(new Date(resetAt).toISOString())}`}
          >
            <Gauge
              shares={[{ kind: remaining === 0 ? 'bad' : 'summary', name: 'used', value: limit - remaining }]}
              total={limit}
              label={`${name}: ${count(limit - remaining)} of ${count(limit)} used`}
            />
          </Item>
        )}
      </Records>
    </Card>
  );
}
