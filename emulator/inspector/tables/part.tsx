import type { OpenApi } from '../../src/control/openapi.js';
import { Card, ErrorLine } from '../parts/card.js';
import { useLoaded } from '../service/use-loaded.js';
import { describedPart, type ServicePart } from './description.js';
import { ListCard } from './list.js';
import { OperationForm } from './operation.js';

/** The tables of a part, and the forms of what else can be done. The description of the control plane has both. */
export function PartCards({ part }: { part: ServicePart }) {
  const { data: description, error } = useLoaded<OpenApi>('/openapi.json', []);
  if (description === undefined) return <ErrorLine>{error}</ErrorLine>;
  const { lists, others } = describedPart(description, part);
  return (
    <>
      {lists.map((each) => (
        <ListCard key={each.list.path} described={each} topics={part.topics} description={description} />
      ))}
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
    </>
  );
}
