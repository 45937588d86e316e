/** Uses the page of `examples/use-chat` as a visitor does, by clicks and keys. */
import { join } from 'node:path';

export const WIDTHS = [390, 1280];
const match = { path: '/v1/chat/completions' };

/** Sends a message, and fails if Next shows an issue. */
export async function askInDev({ page, url, emulator }) {
  const problems = problemsOf(page);
  page.setDefaultTimeout(90_000); // each page and route is compiled first
  for (const path of ['/chat/in-dev', '/tools/in-dev']) {
    emulator.reset();
    emulator.chat.on('harbour', 'At six.');
    await page.goto(url + path);
    await send(page, 'When does the harbour open?');
    await shows(page, 'li:last-child', 'At six.', 90_000);
    await page.reload();
    await shows(page, 'li:last-child', 'At six.');
    const overlay = await page.$eval('nextjs-portal', (portal) => portal.shadowRoot.textContent);
    if (/\d Issue/.test(overlay)) throw new Error(`${path} in dev: ${overlay}`);
  }
  expectNone(problems);
}

export async function useChat({ page, url, emulator }) {
  const problems = problemsOf(page);
  page.setDefaultTimeout(20_000);
  // Also in a second browser, the conversations are new.
  const run = crypto.randomUUID().slice(0, 4);
  for (const width of WIDTHS) {
    await page.setViewport({ width, height: 800 });
    await chat({ page, url: `${url}/chat/at-${width}-${run}`, emulator });
    await search({ page, url: `${url}/tools/search-${width}-${run}`, emulator });
  }
  expectNone(problems);
}

/** A page leaves a reply, and comes back: in the same process, or in another one. */
export async function comeBack({ page, url, otherUrl, cut, emulator }) {
  page.setDefaultTimeout(20_000);
  await page.setViewport({ width: WIDTHS[0], height: 800 });
  const run = crypto.randomUUID().slice(0, 4);
  const requests = () => emulator.requests.length;
  for (const kind of ['chat', 'tools']) {
    emulator.reset();
    emulator.chat.on('story', STORY);
    const path = `/${kind}/left-${kind}-${run}`;
    const problems = problemsOf(page);

    await page.goto(url + path);
    await askForStory(page);
    await page.goto(otherUrl + path); // a reload that another process serves
    await shows(page, 'li', 'Tell me a story.');
    await shows(page, 'li:last-child', THIRD_WORD);
    await picture(page, `resumed-${kind}`);
    await shows(page, 'li:last-child', STORY);
    await page.locator('button ::-p-text(Again)').wait();
    await page.reload(); // after the end
    await shows(page, 'li:last-child', STORY);
    await expectItems(page, 2);
    expectNone(problems);
    if (requests() !== 1) throw new Error(`${kind}: ${requests()} requests for one reply`);

    await askForStory(page);
    await page.setOfflineMode(true);
    cut();
    await shows(page, '[role=alert]', 'The connection broke.');
    await page.setOfflineMode(false);
    await shows(page, 'li:last-child', STORY);
    await page.locator('button ::-p-text(Again)').wait();
    await expectItems(page, 4);
    if (requests() !== 2) throw new Error(`${kind}: ${requests()} requests for two replies`);

    await askForStory(page);
    await page.goto(url + path);
    await shows(page, 'li:last-child', THIRD_WORD);
    await press(page, 'Stop');
    await page.locator('button ::-p-text(Again)').wait();
    const half = await page.$eval('li:last-child', (item) => item.textContent);
    if (half.includes(STORY)) throw new Error(`${kind}: not stopped: ${half}`);
    await page.reload();
    await shows(page, 'li:last-child', half);
    await expectItems(page, 6);
    if (await page.$('[role=alert]')) throw new Error(`${kind}: a stopped reply is an error`);
  }
}

const STORY = `Once upon a time there was a white lighthouse, ${'and the sea was calm, '.repeat(12)}and all was well.`;
const THIRD_WORD = 'Once upon a';

async function askForStory(page) {
  await send(page, 'Tell me a story.');
  await shows(page, 'li:last-child', THIRD_WORD);
}

async function expectItems(page, count) {
  const texts = await page.$$eval('ol > li', (items) => items.map((item) => item.textContent));
  if (texts.length !== count) throw new Error(`${count} messages expected: ${JSON.stringify(texts)}`);
}

/** Collects what the page logs as an error, with the address that it names. */
function problemsOf(page) {
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`${message.text()} ${message.location().url ?? ''}`);
  });
  return problems;
}

function expectNone(problems) {
  if (problems.length > 0) throw new Error(`the console says: ${problems.join('\n')}`);
}

/** The conversation is on the server. */
async function chat({ page, url, emulator }) {
  emulator.reset();
  await page.goto(url);

  emulator.faults.add({ match, respond: { status: 429, message: 'Slow down.', retryAfter: 7 } });
  emulator.chat.on('harbour', 'At six.');
  await send(page, 'When does the harbour open?');
  await shows(page, '[role=alert]', 'Slow down.');
  await shows(page, 'form', 'Again in 6 s');
  await picture(page, 'countdown');
  await press(page, 'Again'); // when it is enabled
  await shows(page, 'li:last-child', 'At six.');

  emulator.chat.on('harbour', 'At seven.');
  await press(page, 'Again');
  await shows(page, 'li:last-child', 'At seven.');
  expectSent(emulator, ['When does the harbour open?']);

  emulator.chat.on('story', 'Once upon a time there was a lighthouse.');
  emulator.faults.add({ match, respond: { type: 'cutStream', afterEvents: 4, how: 'stall' } });
  await send(page, 'Tell me a story.');
  await shows(page, 'li:last-child', 'Once');
  await picture(page, 'writing');
  await press(page, 'Stop');
  await page.locator('button ::-p-text(Again)').wait();
  const half = await page.$eval('li:last-child', (item) => item.textContent);

  await stores(page, half);
  emulator.chat.on('go on', 'It was white.');
  await send(page, 'Please go on.');
  await shows(page, 'li:last-child', 'It was white.');
  expectSent(emulator, ['When does the harbour open?', 'At seven.', 'Tell me a story.', half, 'Please go on.']);
  await picture(page, 'chat');
}

/** The model searches the conversation. */
async function search({ page, url, emulator }) {
  emulator.reset();
  await page.goto(url);
  emulator.chat.on('pier', 'Noted.');
  await send(page, 'The pier gets a red lamp.');
  await shows(page, 'li:last-child', 'Noted.');

  const query = { function: { name: 'searchConversation', arguments: { query: 'pier lamp' } } };
  emulator.chat.on('Which lamp', 'A red one.');
  emulator.chat.on('Which lamp', { tool_calls: [query] });
  await send(page, 'Which lamp does the pier get?');
  await shows(page, 'li:last-child', 'Searched for “pier lamp”');
  await shows(page, 'li:last-child', 'A red one.');
  const found = JSON.parse(emulator.requests.at(-1).body).messages.find(({ role }) => role === 'tool');
  if (!found?.content.includes('The pier gets a red lamp.')) throw new Error(`found: ${JSON.stringify(found)}`);
  await picture(page, 'search');

  await stores(page, 'A red one.');
}

async function send(page, text) {
  await page.waitForSelector('input', { visible: true }); // Next streams it into a hidden part of the page first
  await page.type('input', text);
  await page.waitForSelector('button[type=submit]:enabled'); // a text shows a moment before its reply is at an end
  await page.keyboard.press('Enter');
}

const press = (page, label) => page.locator(`button ::-p-text(${label})`).click();

/** The server stores a reply a moment after the page has it, or has stopped it. */
async function stores(page, text, tries = 20) {
  await page.reload();
  await shows(page, 'li:last-child', text, 1_000).catch((error) => {
    if (tries === 1) throw error;
    return stores(page, text, tries - 1);
  });
}

async function shows(page, selector, text, timeout = 20_000) {
  const found = (css, words) => document.querySelector(css)?.textContent.includes(words);
  await page.waitForFunction(found, { timeout }, selector, text).catch(async (error) => {
    throw new Error(`"${text}" is not in: ${await page.$eval('body', (body) => body.innerText)}`, { cause: error });
  });
}

function expectSent(emulator, texts) {
  const sent = JSON.parse(emulator.requests.at(-1).body).messages.map(({ content }) => content);
  if (JSON.stringify(sent) !== JSON.stringify(texts)) throw new Error(`sent: ${JSON.stringify(sent)}`);
}

/** Fails if the page is wider than the screen. */
async function picture(page, name) {
  const [inner, widest] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
  if (inner !== widest) throw new Error(`${name}: ${widest} px wide on a screen of ${inner} px`);
  const folder = process.env.SCREENSHOTS;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `use-chat-${name}-${inner}.png`) });
}
