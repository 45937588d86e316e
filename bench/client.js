/** One contestant in its own process, with its own heap and compiled code. Each message is a job; the reply is its figure. */
import { CONTESTANTS } from './contestants.js';
import { openConversation } from './turn.js';

const [, , name, origin] = process.argv;
const contestant = await CONTESTANTS[name].create(origin);

const JOBS = {
  plain: ({ model, times, inFlight }) => cpuOf(() => contestant.plain(model), times, inFlight),
  stream: async ({ model, times, events }) => (await cpuOf(() => readWhole(model), times)) / events,
  first: ({ model, times }) => cpuToFirstText(model, times),
  turn: async ({ messages, times }) => cpuOf(await openConversation(messages), times),
};

process.on('disconnect', () => process.exit());
process.on('message', async ({ job, ...task }) => process.send(await JOBS[job](task)));

/** CPU time of a call: user and system, of all threads, in µs. */
async function cpuOf(call, times, inFlight = 1) {
  let left = times;
  const worker = async () => {
    for (; left > 0; left -= 1) await call();
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: inFlight }, worker));
  return cpuSince(before) / times;
}

async function readWhole(model) {
  let characters = 0;
  await contestant.stream(model, (text) => {
    characters += text?.length ?? 0;
  });
  if (characters === 0) throw new Error('a stream without text');
}

async function cpuToFirstText(model, times) {
  let cpu = 0;
  for (let at = 0; at < times; at += 1) {
    let isFirst = true;
    const before = process.cpuUsage();
    await contestant.stream(model, () => {
      if (isFirst) cpu += cpuSince(before);
      isFirst = false;
    });
  }
  return cpu / times;
}

function cpuSince(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
