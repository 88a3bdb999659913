/** The id of a member in a path that takes nothing else. */
import { ID, parseId } from '../../../domain/values/ids.ts';
import { string } from '../../../json/schema.ts';
import { badRequest } from '../../declare/errors.ts';
import type { Parameter, RouteRequest } from '../../declare/route.ts';

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
