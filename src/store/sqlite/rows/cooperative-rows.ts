/** The rows of cooperatives: what statements select of them, under the names that entities have. */
import { COOPERATIVE_FIELDS } from '../../../domain/membership/cooperatives.ts';
import { listFields } from '../../../domain/values/declared-fields.ts';
import { activeMembersSql } from '../schema/counts.ts';
import { selected } from './columns.ts';

export const COOPERATIVE_ROW = `c.id, ${selected('c', listFields(COOPERATIVE_FIELDS))},
  ${activeMembersSql('c.id')} AS membersCount,
  c.created_at AS createdAt, c.updated_at AS updatedAt`;
