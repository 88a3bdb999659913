/** What is counted: a declaration for each entity whose lists have filters (CONTRIBUTING.md#add-a-filter). */
import { ERASED_STATUS } from '../identity/erased-rows.ts';
import type { CountDeclaration } from './count-index.ts';

/** Members by status: every change of `status` or `cooperative_id`, and every new row, updates the index. */
export const MEMBER_COUNTS: CountDeclaration = {
  table: 'members',
  dimension: 'status',
  group: 'cooperative_id',
  blockTable: 'member_blocks',
  groupTable: 'member_counts',
  count: 'members',
  excluded: ERASED_STATUS,
};

/** Loans and payments alike; a cooperative may have millions of payments. */
export const LOAN_COUNTS: CountDeclaration = {
  table: 'loans',
  dimension: 'status',
  group: 'cooperative_id',
  blockTable: 'loan_blocks',
  groupTable: 'loan_counts',
  groupBlockTable: 'loan_cooperative_blocks',
  count: 'loans',
};
export const PAYMENT_COUNTS: CountDeclaration = {
  table: 'payments',
  dimension: 'status',
  group: 'cooperative_id',
  blockTable: 'payment_blocks',
  groupTable: 'payment_counts',
  groupBlockTable: 'payment_cooperative_blocks',
  count: 'payments',
};

/** Every declaration: the check compares each with the rows. */
export const COUNTED_ENTITIES: readonly CountDeclaration[] = [MEMBER_COUNTS, LOAN_COUNTS, PAYMENT_COUNTS];

/** The declarations of the rows of a table, one for each dimension; none for a table that is not counted. */
export const countsOf = (table: string): CountDeclaration[] =>
  COUNTED_ENTITIES.filter((declaration) => declaration.table === table);
