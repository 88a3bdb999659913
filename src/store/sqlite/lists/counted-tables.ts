/** What is counted: a declaration for each entity whose lists have filters (CONTRIBUTING.md#add-a-filter). */
import { ERASED_STATUS } from '../identity/erased-rows.ts';

export interface CountDeclaration {
  /** Table that is counted; it has an integer `id`. */
  readonly table: string;
  /** Column whose values are counted: few of them, none called `any`. */
  readonly dimension: string;
  /** Column of the groups within which values are counted as well. */
  readonly group: string;
  /** Tables of the counts, each with this key: `(span, <dimension>, block)`. */
  readonly blockTable: string;
  /** `(<group>, <dimension>)` */
  readonly groupTable: string;
  /** Of a group by large block, as one may have millions of rows: `(<group>, <dimension>, block)`. */
  readonly groupBlockTable: string;
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

const countedByStatus = (one: 'member' | 'loan' | 'payment'): CountDeclaration => ({
  table: `${one}s`,
  dimension: 'status',
  group: 'cooperative_id',
  blockTable: `${one}_blocks`,
  groupTable: `${one}_counts`,
  groupBlockTable: `${one}_cooperative_blocks`,
  count: `${one}s`,
});

export const MEMBER_COUNTS: CountDeclaration = { ...countedByStatus('member'), excluded: ERASED_STATUS };
export const LOAN_COUNTS = countedByStatus('loan');
export const PAYMENT_COUNTS = countedByStatus('payment');

/** Every declaration: the check compares each with the rows. */
export const COUNTED_ENTITIES: readonly CountDeclaration[] = [MEMBER_COUNTS, LOAN_COUNTS, PAYMENT_COUNTS];

/** The declarations of the rows of a table, one for each dimension; none for a table that is not counted. */
export const countsOf = (table: string): CountDeclaration[] =>
  COUNTED_ENTITIES.filter((declaration) => declaration.table === table);
