import type { ComponentChildren } from 'preact';

/** A card with a title and optional content next to it. */
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
      <header class="row card-head">
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}

/** The head of a view: its name, a description and actions. */
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
    <header class="row title">
      <div class="title-words">
        {above}
        <h1>{name}</h1>
        {children !== undefined && <p class="soft">{children}</p>}
      </div>
      {actions !== undefined && <div class="row">{actions}</div>}
    </header>
  );
}

/** The placeholder of an empty list. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty soft">{children}</p>;
}

/** An error message, next to the action that failed. */
export function ErrorLine({ children }: { children: ComponentChildren }) {
  if (children === undefined || children === '') return null;
  return (
    <p class="error-line" role="alert">
      {children}
    </p>
  );
}

/** A key figure with its description. */
export function Figure({ value, children }: { value: string; children: ComponentChildren }) {
  return (
    <div class="figure">
      <strong>{value}</strong>
      <span class="soft">{children}</span>
    </div>
  );
}

/** Names with their values. Those without a value are left out. */
export function Facts({ of }: { of: Readonly<Record<string, ComponentChildren>> }) {
  return (
    <dl class="facts">
      {Object.entries(of).map(
        ([name, value]) =>
          value && (
            <div key={name}>
              <dt class="soft">{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
