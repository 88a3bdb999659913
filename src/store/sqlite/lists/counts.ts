/** What is counted: a declaration for each entity whose lists have filters (CONTRIBUTING.md#add-a-filter). */
import type { CountDeclaration } from './count-index.ts';

/** Members by status: every change of `status` or `cooperative_id`, and every new row, updates the index. */
export const MEMBER_COUNTS: CountDeclaration = {
  table: 'members',
  dimension: 'status',
  group: 'cooperative_id',
  blockTable: 'member_blocks',
  groupTable: 'member_counts',
  count: 'members',
};

/** Every declaration: the check compares each with the rows. */
export const COUNTED_ENTITIES: readonly CountDeclaration[] = [MEMBER_COUNTS];
