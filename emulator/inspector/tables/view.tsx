import type { OpenApi } from '../../src/control/openapi.js';
import { Card, ErrorLine, Title } from '../parts/card.js';
import { linkTo } from '../service/router.js';
import { useLoaded } from '../service/use-loaded.js';
import { ClockSteps, StateFile } from './clock.js';
import { describedPart, PARTS } from './description.js';
import { ListCard } from './list.js';
import { OperationForm } from './operation.js';

/** All that the service stores, as tables. What can be done with it comes from the description of the control plane. */
export function ServiceView({ id }: { id: string }) {
  const part = PARTS.find(({ name }) => name === id) ?? PARTS[0];
  const { data: description, error } = useLoaded<OpenApi>('/openapi.json', []);
  const { lists, others } = describedPart(description, part);
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
      <ErrorLine>{error}</ErrorLine>
      {description !== undefined && (
        <div class="stack" key={part.name}>
          {lists.map((each) => (
            <ListCard key={each.list.path} described={each} topics={part.topics} description={description} />
          ))}
          {part.name === 'clock' && <ClockSteps />}
          {part.name === 'clock' && <StateFile />}
          {others.length > 0 && (
            <Card title="Changes">
              {others.map((operation) => (
                <details key={operation.operationId} id={operation.operationId}>
                  <summary>{operation.summary}</summary>
                  <OperationForm operation={operation} description={description} />
                </details>
              ))}
            </Card>
          )}
        </div>
      )}
    </>
  );
}
