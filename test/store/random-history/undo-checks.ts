/** What an undo must leave, and when it must be refused, from the rows before and after each step. */
import { PAID, paidOf, type Row, type Rows, rowsOf, writtenBetween } from './rows.ts';

/** One operation, by what it did to the rows. */
export interface Step {
  /** Of an import or correction; undefined for writes of a key, and for what cannot be undone. */
  readonly undoId: number | undefined;
  readonly before: Rows;
  readonly after: Rows;
  /** After each of its writes, where they came one after the other. */
  readonly between?: readonly Rows[];
  isUndone: boolean;
}

/** The rows after a step was undone that nothing builds on: its own are as before, all others as now. */
export function undoIn(rows: Rows, { before, after }: Step): Rows {
  const { created, changed, removed } = writtenBetween(before, after);
  const next = new Map(rows);
  for (const key of created) next.delete(key);
  for (const key of [...changed, ...removed]) next.set(key, before.get(key) as Row);
  const paid = paidOf(next);
  for (const { id, ...loan } of rowsOf(next, 'loan'))
    next.set(`loan ${id}`, { ...loan, id: id as number, [PAID]: paid.get(id as number) as number });
  return next;
}

type Change = Pick<Step, 'before' | 'after'>;

const changesOf = ({ before, after, between }: Step): Change[] =>
  (between ?? [after]).map((rows, i, all) => ({ before: all[i - 1] ?? before, after: rows }));

/** Keys of the rows that one refers to. */
const parentsOf = (row: Row | undefined): string[] =>
  ['cooperative', 'member', 'loan', 'account'].flatMap((parent) =>
    row?.[`${parent}_id`] === undefined ? [] : [`${parent} ${row[`${parent}_id`]}`],
  );

/** The loans of which a step changes what is paid by payments. */
function paidBy({ before, after }: Change): string[] {
  const byPayments = (rows: Rows) => {
    const opening = new Map(rowsOf(rows, 'loan').map((loan) => [loan.id, loan.opening_balance_minor]));
    return new Map([...paidOf(rows)].map(([id, paid]) => [id, paid - (opening.get(id) as number)]));
  };
  const [was, is] = [byPayments(before), byPayments(after)];
  const ids = [...new Set([...was.keys(), ...is.keys()])];
  return ids.filter((id) => (was.get(id) ?? 0) !== (is.get(id) ?? 0)).map((id) => `loan ${id}`);
}

/** The stored loans of which a step moves the end of the opening balance. */
const cutOffsOf = ({ before, after }: Change): string[] =>
  [...after.keys()].filter(
    (key) =>
      key.startsWith('loan ') &&
      before.has(key) &&
      before.get(key)?.paid_until !== after.get(key)?.paid_until,
  );

/** The loans with a payment that a step makes void. */
const voidedBy = ({ before, after }: Step): string[] =>
  rowsOf(after, 'payment')
    .filter(({ id, status }) => (before.get(`payment ${id}`)?.status ?? status) !== status)
    .map(({ loan_id }) => `loan ${loan_id}`);

/** Member codes and national IDs that two members of a cooperative have. */
function hasCollision(rows: Rows): boolean {
  const taken = rowsOf(rows, 'member').flatMap(({ cooperative_id, member_code, identity_card }) => [
    `${cooperative_id} code ${member_code}`,
    `${cooperative_id} card ${identity_card}`,
  ]);
  return new Set(taken).size < taken.length;
}

/** Whether something that is not undone builds on an import: later imports, and writes of a key. */
export function isBuiltOn(steps: readonly Step[], step: Step, rows: Rows): boolean {
  const { created, changed } = writtenBetween(step.before, step.after);
  const written = new Set([...created, ...changed]);
  const own = new Set(created);
  const voided = new Set(voidedBy(step));
  const later = steps
    .slice(steps.indexOf(step) + 1)
    .flatMap((each) => (each.isUndone ? [] : changesOf(each)));
  return (
    hasCollision(undoIn(rows, step)) ||
    later.some((other) => {
      const others = writtenBetween(other.before, other.after);
      const parents = [...others.created, ...others.changed].flatMap((key) => [
        ...parentsOf(other.before.get(key)),
        ...parentsOf(other.after.get(key)),
      ]);
      return (
        others.changed.some((key) => written.has(key)) ||
        parents.some((key) => own.has(key)) ||
        paidBy(other).some((key) => written.has(key)) ||
        cutOffsOf(other).some((key) => voided.has(key))
      );
    })
  );
}
