import type { BrowserPage } from './browser-page.js';

/** What a user does on a page. */
export function onPage(page: BrowserPage) {
  const find = (selector: string): string => `document.querySelector(${JSON.stringify(selector)})`;
  const act = async (selector: string, work: string): Promise<void> => {
    await page.until(find(selector));
    await page.evaluate(`(() => { const element = ${find(selector)}; ${work} })()`);
  };
  return {
    text: () => page.evaluate<string>("document.querySelector('#main').innerText"),
    /** Opens a view by its hash. */
    go: async (view: string): Promise<void> => {
      await page.evaluate(`location.hash = '#/${view}'`);
    },
    click: async (selector: string): Promise<void> => {
      await page.until(`${find(selector)} && !${find(selector)}.disabled`);
      await page.evaluate(`${find(selector)}.click()`);
    },
    type: (selector: string, text: string) =>
      act(
        selector,
        `element.value = ${JSON.stringify(text)}; element.dispatchEvent(new Event('input', { bubbles: true }));`,
      ),
    choose: (selector: string, value: string) =>
      act(
        selector,
        `element.value = ${JSON.stringify(value)}; element.dispatchEvent(new Event('change', { bubbles: true }));`,
      ),
    /** Chooses a file in an input. */
    give: (selector: string, name: string, text: string) =>
      act(
        selector,
        `const files = new DataTransfer();
        files.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
        element.files = files.files;
        element.dispatchEvent(new Event('change', { bubbles: true }));`,
      ),
    /** Clicks a button by its text. */
    press: async (text: string, within = 'body'): Promise<void> => {
      const button = `[...document.querySelectorAll(${JSON.stringify(`${within} button`)})].find((each) => each.innerText === ${JSON.stringify(text)})`;
      await page.until(button);
      await page.evaluate(`${button}.click()`);
    },
    sees: (selector: string) => page.until(find(selector)),
    reads: (text: string) => page.until(`document.body.innerText.includes(${JSON.stringify(text)})`),
  };
}
