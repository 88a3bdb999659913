/** The id of a resource in its path (docs/api.md#routes). */
import { notFound } from '../../domain/values/errors.ts';
import { ID, parseId } from '../../domain/values/ids.ts';
import { string } from '../../json/schema.ts';
import type { Parameter, RouteRequest } from './route.ts';

export const pathId = (description: string): Parameter => ({
  description,
  schema: string({ pattern: ID.source }),
  example: '1',
});

/** @throws RegistryError `not_found` for what is not an id */
export function readPathId({ params }: Pick<RouteRequest, 'params'>): number {
  const id = parseId(params.id ?? '');
  if (id === undefined) throw notFound();
  return id;
}
