/** The tokens of an account in the terminal: by day, by model, and what is left. Run: npm run example usage-report [days] */
import { GatewayClient } from 'context-gateway';
import { bar, number, paint, print } from '../../demo/terminal.js';

const DAY = 86_400_000;
const WIDTH = 40;

const days = Number(process.argv[2] ?? 14);
if (!Number.isInteger(days) || days < 1 || days > 92) {
  console.error('How many days? A whole number from 1 to 92.');
  process.exit(2);
}

await using gateway = new GatewayClient(); // address and key from the environment
const { response } = await gateway.usage.retrieve().withResponse();
const today = new Date(response.headers.get('date') ?? Date.now()); // by the clock of the service
const dates = Array.from({ length: days }, (_, day) => new Date(today.getTime() - (days - 1 - day) * DAY));
const [whole, ...byDay] = await Promise.all([
  gateway.usage.retrieve({ start_date: dates[0], end_date: today }),
  ...dates.map((date) => gateway.usage.retrieve({ start_date: date, end_date: date })),
]);

print(paint('bold', `\nTokens, ${whole.period.start} to ${whole.period.end}\n`));
const most = Math.max(1, ...byDay.map(({ tokens_used }) => tokens_used));
for (const { period, tokens_used } of byDay) line(period.start.slice(5), tokens_used, most);

print(paint('bold', '\nBy model\n'));
const models = Object.entries(whole.breakdown_by_model).sort(([, a], [, b]) => b - a);
for (const [model, tokens] of models) line(model, tokens, models[0]?.[1] ?? 1);
if (models.length === 0) print('  none was used');

const { tokens_used, tokens_included, tokens_remaining, overage_tokens, estimated_overage_cost } = whole;
print(paint('bold', '\nOf the plan\n'));
print(
  `  ${bar(tokens_used / Math.max(1, tokens_included), WIDTH)} ${number(tokens_used)} of ${number(tokens_included)}`,
);
print(
  overage_tokens > 0
    ? paint('red', `  ${number(overage_tokens)} over, about ${estimated_overage_cost.toFixed(2)} extra`)
    : `  ${number(tokens_remaining)} left`,
);

function line(name: string, tokens: number, most: number): void {
  print(`  ${name.padEnd(14)} ${bar(tokens / most, WIDTH)} ${number(tokens).padStart(10)}`);
}
