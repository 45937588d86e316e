import type { BrowserPage } from './browser-page.js';

/** What a user does on a page, which may be opened later. */
export function onPage(page: BrowserPage | (() => BrowserPage)) {
  const current = () => (typeof page === 'function' ? page() : page);
  const find = (selector: string): string => `document.querySelector(${JSON.stringify(selector)})`;
  const until = (expression: string) => current().until(expression);
  const evaluate = <T>(expression: string) => current().evaluate<T>(expression);
  const act = async (selector: string, work: string): Promise<void> => {
    await until(find(selector));
    await evaluate(`(() => { const element = ${find(selector)}; ${work} })()`);
  };
  const enter = (selector: string, value: string, event: string) =>
    act(
      selector,
      `element.value = ${JSON.stringify(value)}; element.dispatchEvent(new Event('${event}', { bubbles: true }));`,
    );
  const type = (selector: string, text: string) => enter(selector, text, 'input');
  const click = async (selector: string): Promise<void> => {
    await until(`${find(selector)} && !${find(selector)}.disabled`);
    await evaluate(`${find(selector)}.click()`);
  };
  return {
    type,
    click,
    /** Types into fields, and clicks a button. */
    submit: async (button: string, fields: Record<string, string>): Promise<void> => {
      for (const [selector, text] of Object.entries(fields)) await type(selector, text);
      await click(button);
    },
    text: () => evaluate<string>("document.querySelector('#main').innerText"),
    /** Opens a view by its hash. */
    go: async (view: string): Promise<void> => {
      await evaluate(`location.hash = '#/${view}'`);
    },
    choose: (selector: string, value: string) => enter(selector, value, 'change'),
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
      await until(button);
      await evaluate(`${button}.click()`);
    },
    focus: (selector: string) => act(selector, 'element.focus();'),
    sees: (selector: string) => until(find(selector)),
    /** Waits until there are so many elements. */
    counts: (selector: string, count: number) =>
      until(`document.querySelectorAll(${JSON.stringify(selector)}).length === ${count}`),
    reads: (text: string) => until(`document.body.innerText.includes(${JSON.stringify(text)})`),
  };
}
