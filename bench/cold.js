/**
 * Imports one contestant (or nothing) in a new process and sends one request. Prints when the import and the response
 * were complete, in ms since the process started.
 */
const [, , name, origin] = process.argv;
let answered;
let imported;
if (name !== undefined) {
  const { create } = await import(`./contestants/${name}.js`);
  imported = performance.now();
  await create(origin).plain('json-1000');
  answered = performance.now();
}
console.log(JSON.stringify({ imported: imported ?? performance.now(), answered }));
process.exit();
