/** A new process that imports one contestant (or nothing) and sends one request: prints when each was done, in ms since the process began. */
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
