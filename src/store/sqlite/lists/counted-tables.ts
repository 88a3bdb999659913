/** What is counted: a declaration for each entity whose lists have filters (CONTRIBUTING.md#add-a-filter). */
import { ERASED_STATUS } from '../identity/erased-rows.ts';

export interface CountDeclaration {
  /** Table that is counted; it has an integer `id`. */
  readonly table: string;
  /** Column whose values are counted: few of them, none called `any`. */
  readonly dimension: string;
  /** Column of the groups within which values are counted as well. */
  readonly group: string;
  /**
   * Tables of the counts, `(span, <dimension>, block, <count>)` and `(<group>, <dimension>, <count>)`, each
   * with this key.
   */
  readonly blockTable: string;
  readonly groupTable: string;
  /** Of an entity with large groups: counts by large block, `(<group>, <dimension>, block, <count>)`. */
  readonly groupBlockTable?: string;
  /** Column of the counts in all of them. */
  readonly count: string;
  /** Value of the dimension whose rows are in no list, and so in no count. */
  readonly excluded?: string;
}

/** Counts rows of every value. */
export const ANY = 'any';

/** The error of counts that do not match the rows. */
export const wrongCounts = (table: string): Error =>
  new Error(`The counters of ${table} do not match their blocks: run the check command.`);

/** What adds to a count that is there, at the end of an INSERT. */
export const added = ({ count }: CountDeclaration): string =>
  `ON CONFLICT DO UPDATE SET ${count} = ${count} + excluded.${count}`;

/** Members by status: every change of `status` or `cooperative_id`, and every new row, updates the index. */
export const MEMBER_COUNTS: CountDeclaration = {
  table: 'members',
  dimension: 'status',
  group: 'cooperative_id',
  blockTable: 'member_blocks',
  groupTable: 'member_counts',
  groupBlockTable: 'member_cooperative_blocks',
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
