import { Title } from '../parts/card.js';
import { linkTo } from '../service/router.js';
import { ClockAndState } from './clock.js';
import { PARTS } from './description.js';
import { PartCards } from './part.js';

/** All that the service stores, as tables. */
export function ServiceView({ id }: { id: string }) {
  const part = PARTS.find(({ name }) => name === id) ?? PARTS[0];
  return (
    <>
      <Title name="Service">What the service stores, and what the control plane can do with it.</Title>
      <nav class="row" aria-label="Parts of the service">
        {PARTS.map(({ name, title }) => (
          <a
            key={name}
            class="button"
            href={linkTo('service', name)}
            aria-current={name === part.name ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <div class="stack" key={part.name}>
        <PartCards part={part} />
        {part.name === 'clock' && <ClockAndState />}
      </div>
    </>
  );
}
