/**
 * The opening balance of a loan, and until when it runs, from a loans file
 * (docs/import-reference.md#opening-balances). In each statement `r` is the staged row
 * and `t` the stored loan.
 */
/** Whether the row gives the stored loan another opening balance: it has one, not that of the loan. */
export const IS_ANOTHER_BALANCE = 'r.paid_amount NOT IN (t.opening_balance_minor, t.paid_amount_minor)';

/** The opening balance that a stored loan gets. */
export const OPENING_BALANCE = `iif(${IS_ANOTHER_BALANCE}, r.paid_amount, t.opening_balance_minor)`;

/** The end of the opening balance of a new loan; null without one. */
export const NEW_CUT_OFF = 'iif(r.paid_amount > 0, r.paid_until, NULL)';
/** That of a stored loan. It changes only together with the opening balance. */
export const CUT_OFF = `iif(${IS_ANOTHER_BALANCE}, ${NEW_CUT_OFF}, t.paid_until)`;
