/** Compares how long `import` takes with the most widely used SDK of this kind. */
import { runWell } from './child.js';

const OURS = 'context-gateway';
const PEER = 'openai';
const ROUNDS = 21;

/** Each import runs in a new process. They alternate, so that other load on the machine affects both. */
export async function checkColdImport() {
  const samples = { [OURS]: [], [PEER]: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? [OURS, PEER] : [PEER, OURS];
    for (const name of order) samples[name].push(await timeImport(name));
  }
  const [ours, peer] = [median(samples[OURS]), median(samples[PEER])];
  const shown = `${ours.toFixed(0)} ms, ${PEER} ${peer.toFixed(0)} ms`;
  if (ours >= peer) throw new Error(`not below: ${shown}`);
  return shown;
}

async function timeImport(name) {
  const code = `const since = performance.now(); await import('${name}'); console.log(performance.now() - since)`;
  return Number(await runWell([process.execPath, '--input-type=module', '-e', code]));
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}
