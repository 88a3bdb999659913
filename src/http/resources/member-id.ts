/** The id of a member in a path that takes nothing else. */
import { ID, parseId } from '../../domain/ids.ts';
import { badRequest } from '../errors.ts';
import type { Parameter, RouteRequest } from '../route.ts';
import { string } from '../schema.ts';

export const MEMBER_ID: Parameter = {
  description: 'The id of a member: 1 to 12 digits.',
  schema: string({ pattern: ID.source }),
  example: '2',
  takesAnyByte: true,
};

/** @throws HttpError 400 for anything else, a national ID included (docs/api.md#routes) */
export function readMemberId(request: Pick<RouteRequest, 'params'>): number {
  const id = parseId(request.params.id ?? '');
  if (id === undefined) throw badRequest('Expected a member id.');
  return id;
}
