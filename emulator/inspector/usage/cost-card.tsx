import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { CostBy, CostReport } from '../../src/control/page/cost.js';
import { Card, Empty, ErrorLine } from '../parts/card.js';
import { ColumnChart } from '../parts/chart.js';
import { Field, Segments } from '../parts/field.js';
import { type Color, inColor } from '../parts/gauge.js';
import { filter, NO_FILTER } from '../requests/filter.js';
import { goTo, linkTo } from '../service/router.js';
import { useLoaded } from '../service/use-loaded.js';
import { count, plural } from '../service/words.js';

/** What tokens cost by key, model, conversation or day, as a picture and a table of the same rows. */
export function CostCard() {
  const by = useSignal<CostBy>('key');
  const from = useSignal('');
  const to = useSignal('');
  const query = new URLSearchParams({ by: by.value });
  if (from.value !== '') query.set('from', from.value);
  if (to.value !== '') query.set('to', to.value);
  const { data, error } = useLoaded<CostReport>(`/usage?${query}`, ['usage', 'account', 'clock']);
  const choose = (
    <Segments<CostBy>
      label="Cost by"
      id="cost-by"
      of={by}
      options={[
        ['key', 'Key'],
        ['model', 'Model'],
        ['conversation', 'Conversation'],
        ['day', 'Day'],
      ]}
    />
  );
  return (
    <Card title="Cost" aside={choose}>
      <div class="form">
        <Field label="From (UTC)" id="cost-from" type="date" of={from} />
        <Field label="To (UTC)" id="cost-to" type="date" of={to} />
      </div>
      {data !== undefined && (
        <p class="soft">
          {`${data.period.start} to ${data.period.end}, at ${data.pricePerMillion} USD a million tokens, as those beyond the included ${count(data.includedTokens)}. To be billed: ${data.overageCost.toFixed(2)} USD.`}
        </p>
      )}
      <ErrorLine>{error}</ErrorLine>
      {data?.groups.length === 0 && <Empty>No tokens were used in this period. Ask something in the playground.</Empty>}
      {data !== undefined && data.groups.length > 0 && <Report report={data} />}
    </Card>
  );
}

function Report({ report: { by, groups, total } }: { report: CostReport }) {
  // By day, a group is a column of its own.
  const days = [...new Set(groups.flatMap((group) => group.days.map(({ day }) => day)))].sort();
  const shown = by === 'day' ? [] : groups.slice(0, SERIES - 1);
  const kindOf = (at: number): Color => (by === 'day' ? 'series-0' : `series-${Math.min(at, SERIES - 1)}`);
  const names = [...shown.map(({ name }) => name), ...(by !== 'day' && groups.length > shown.length ? ['others'] : [])];
  const columns = days.map((day) => ({
    name: day.slice(5),
    parts: groups.map((group, i) => ({
      kind: kindOf(i),
      name: group.name,
      value: group.days.find((each) => each.day === day)?.tokens ?? 0,
    })),
  }));
  return (
    <>
      <ColumnChart
        label={`Tokens by day and ${by}: ${count(total.tokens)} on ${plural(days.length, 'day')}`}
        columns={columns}
        legend={
          by === 'day' ? [{ name: 'tokens', kind: 'series-0' }] : names.map((name, i) => ({ name, kind: kindOf(i) }))
        }
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="scrolls" tabIndex={0} aria-label={`Cost by ${by}`}>
        <table id="cost">
          <thead>
            <tr>
              <th>{by === 'day' ? 'Day' : `${by.charAt(0).toUpperCase()}${by.slice(1)}`}</th>
              {['USD', 'Tokens', 'Prompt', 'Completion', 'Requests'].map((name) => (
                <th key={name} class="number-cell">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map((group, i) => (
              <Row key={group.id} cost={group} kind={kindOf(i)}>
                <Name by={by} group={group} />
              </Row>
            ))}
          </tbody>
          <tfoot>
            <Row cost={total}>Total</Row>
          </tfoot>
        </table>
      </section>
    </>
  );
}

function Row({ cost, kind, children }: { cost: CostReport['total']; kind?: Color; children: ComponentChildren }) {
  const { requests, prompt, completion, tokens } = cost;
  return (
    <tr>
      <th scope="row">
        {kind !== undefined && <span class="swatch" style={inColor(kind)} aria-hidden="true" />}
        {children}
      </th>
      {[cost.cost.toFixed(4), ...[tokens, prompt, completion, requests].map(count)].map((text, i) => (
        <td key={i} class="number-cell">
          {text}
        </td>
      ))}
    </tr>
  );
}

/** The name of a group, which leads to the conversation or to the requests. */
function Name({ by, group: { id, name } }: { by: CostBy; group: CostReport['groups'][number] }) {
  if (id === '' || by === 'day') return <>{name}</>;
  if (by === 'conversation') return <a href={linkTo('conversation', id)}>{name === '' ? id : name}</a>;
  const show = (event: Event): void => {
    event.preventDefault();
    filter.value = { ...NO_FILTER, [by]: name };
    goTo('requests');
  };
  return (
    <a href={linkTo('requests')} onClick={show} title="Show the requests">
      {name}
    </a>
  );
}

const SERIES = 6;
