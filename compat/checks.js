/** Runs checks of the form `[name, check]`. A check throws, or returns a detail for the table. */

/** Runs up to `atOnce` checks in parallel. Prints a failure immediately and continues with the others. */
export async function runChecks(checks, atOnce = 1) {
  const results = [];
  const left = [...checks.entries()];
  const worker = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [at, [name, check]] = next;
      const since = Date.now();
      const { problem, detail = '' } = await check().then(
        (given) => ({ detail: given }),
        (error) => ({ problem: firstLines(String(error?.message ?? error)) }),
      );
      results[at] = { name, problem, detail };
      const seconds = ((Date.now() - since) / 1000).toFixed(1);
      console.error(
        problem === undefined
          ? `ran  ${name} (${seconds} s)`
          : `FAIL ${name}\n     ${problem.replaceAll('\n', '\n     ')}`,
      );
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** Bundlers and compilers print long errors; the first lines contain the cause. */
function firstLines(text) {
  return text.trim().split('\n').slice(0, 12).join('\n');
}
