/** An element with properties and children. Text is always text: nothing that was stored is read as HTML. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** A card with a title and something beside it. */
export function card(title, aside, ...children) {
  return h('section', { class: 'card' }, h('header', {}, h('h3', {}, title), aside), ...children);
}

/** What stands where there is nothing yet. */
export function empty(text) {
  return h('p', { class: 'empty' }, text);
}

/** 12,345 */
export function count(number) {
  return Math.round(number).toLocaleString('en');
}

/** 22 % */
export function percent(share) {
  return `${Math.round(share * 100)} %`;
}

/** The time of day, to the second. */
export function timeOf(timestamp) {
  return timestamp.slice(11, 19);
}

/** A bar of shares of a whole; its text says the same. */
export function bar(parts, total, label) {
  const width = (value) => `${total === 0 ? 0 : (100 * value) / total}%`;
  return h(
    'div',
    { class: 'bar', role: 'img', 'aria-label': label },
    parts.map(({ kind, value }) => h('span', { class: `fill ${kind}`, style: { width: width(value) } })),
  );
}
