import type { ComponentChildren } from 'preact';
import { useLoaded } from '../service/use-loaded.js';
import { ErrorLine } from './card.js';

/** Loads a path of the control plane and shows it, below the reason if it could not be loaded. */
export function Load<T>({
  path,
  topics,
  children,
}: {
  path: string;
  topics: readonly string[];
  children: (data: T, reload: () => Promise<void>) => ComponentChildren;
}) {
  const { data, error, reload } = useLoaded<T>(path, topics);
  return (
    <>
      <ErrorLine>{error}</ErrorLine>
      {data !== undefined && children(data, reload)}
    </>
  );
}
