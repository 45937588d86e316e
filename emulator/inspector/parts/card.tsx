import type { ComponentChildren } from 'preact';

/** A card with a title and something beside it. */
export function Card({
  title,
  aside,
  kind = '',
  children,
}: {
  title: string;
  aside?: ComponentChildren;
  kind?: string;
  children: ComponentChildren;
}) {
  return (
    <section class={`card ${kind}`} aria-label={title}>
      <header class="card-head">
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** The head of a view: its name, a line about it, and what one can do. */
export function Title({
  name,
  children,
  actions,
  above,
}: {
  name: string;
  children?: ComponentChildren;
  actions?: ComponentChildren;
  above?: ComponentChildren;
}) {
  return (
    <header class="title">
      <div class="title-words">
        {above}
        <h1>{name}</h1>
        {children !== undefined && <p class="soft">{children}</p>}
      </div>
      {actions !== undefined && <div class="row">{actions}</div>}
    </header>
  );
}

/** What stands where there is nothing yet. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** Why something failed, where it failed. */
export function ErrorLine({ children }: { children: ComponentChildren }) {
  if (children === undefined || children === '') return null;
  return (
    <p class="error-line" role="alert">
      {children}
    </p>
  );
}

/** A number that matters, and what it is. */
export function Figure({ value, children }: { value: string; children: ComponentChildren }) {
  return (
    <div class="figure">
      <strong>{value}</strong>
      <span>{children}</span>
    </div>
  );
}
