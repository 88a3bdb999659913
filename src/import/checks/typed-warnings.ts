/**
 * Warnings about a row that a user types at the desk (docs/desk.md#entering-by-hand). Imports of files do not
 * give these warnings, because only the user who types a row can answer them at once.
 */
import { TYPED_AGAIN } from '../../registry/entries.ts';
import { MOST_TIMES_PAID } from '../../registry/payments.ts';
import { formatDecimal, MONEY, WEIGHT } from '../../values/decimal.ts';
import { hideIdentityCards } from '../../values/identity-card.ts';
import { say, type Text, Written } from '../../values/message.ts';
import type { WarningKind } from '../import-warnings.ts';
import type { FileScope } from '../staging/staging-tables.ts';
import { ROWS } from './check-statements.ts';

const typedWarning = (
  kind: WarningKind,
  needs: readonly string[],
  sql: string,
  message: (detail: string) => Text,
) => ({
  kind,
  needs,
  sql: ({ isTyped }: FileScope) => (isTyped ? sql : undefined),
  message: (_: number, detail: string) => message(detail),
});

const written = (units: number, digits: number): Written =>
  new Written('amount', formatDecimal(units, digits));

/** A tolerance of a day covers all time zones. */
const beforeRegistration = (instant: string) =>
  typedWarning(
    'before_registration',
    [instant],
    `SELECT p.line, c.registration_date FROM ${ROWS} CROSS JOIN main.cooperatives c ON c.id = p.cooperative_id
     WHERE r.${instant} < unixepoch(c.registration_date, '-1 day')`,
    (day) =>
      say('The day is before the cooperative was registered, {day}.', { day: new Written('day', day) }),
  );

/** @param stored table `t` of the stored entries, with the condition of its JOIN */
const sameEntry = (needs: readonly string[], stored: string) =>
  typedWarning(
    'same_entry',
    needs,
    `SELECT p.line, '' FROM ${ROWS} CROSS JOIN ${stored}
     WHERE p.id IS NULL AND r.reference NOT GLOB '${TYPED_AGAIN}*' LIMIT 1`,
    () => say('An entry of the same day and amount of this member is recorded already. Is this another one?'),
  );

/** Ratio of a delivery to its cooperative's average, above which a decimal point is probably missing. */
const UNUSUAL_TIMES = 10;
/** Minimum and maximum number of deliveries in the average. */
const [LEAST_DELIVERIES, MOST_DELIVERIES] = [10, 1_000];
const unusualWeight = typedWarning(
  'unusual_weight',
  ['kg'],
  `SELECT p.line, CAST(s.average AS INTEGER) FROM ${ROWS}
   CROSS JOIN (SELECT avg(grams) AS average, count(*) AS deliveries FROM (
     SELECT grams FROM main.production_entries INDEXED BY production_entries_reference
     WHERE cooperative_id = (SELECT cooperative_id FROM staging.resolved_references LIMIT 1)
     LIMIT ${MOST_DELIVERIES})) s
   WHERE s.deliveries >= ${LEAST_DELIVERIES} AND r.kg > ${UNUSUAL_TIMES} * s.average`,
  (average) =>
    say('This is more than ten times what a delivery here weighs on average, {average} kg.', {
      average: written(Number(average), WEIGHT.fractionDigits),
    }),
);

/** Warns of a payment larger than the rest of the loan. The excess may be interest or a mistake. */
const beyondAmount = typedWarning(
  'beyond_amount',
  ['amount'],
  `SELECT p.line, json_array(l.amount_minor, max(0,
     l.amount_minor - (l.paid_amount_minor + a.delta - r.amount)))
   FROM ${ROWS} CROSS JOIN main.loans l ON l.id = p.loan_id
   CROSS JOIN staging.paid_amounts a ON a.loan_id = l.id
   WHERE a.delta > 0 AND l.paid_amount_minor + a.delta > l.amount_minor
     AND l.paid_amount_minor + a.delta <= ${MOST_TIMES_PAID} * l.amount_minor`,
  (detail) => {
    const [amount, left]: [number, number] = JSON.parse(detail);
    return say(
      'With this payment, more than the amount of the loan, {amount} Frw, is paid: {left} Frw of it was ' +
        'left. Is that right, with the interest?',
      { amount: written(amount, MONEY.fractionDigits), left: written(left, MONEY.fractionDigits) },
    );
  },
);

const samePayment = typedWarning(
  'same_payment',
  ['amount'],
  `SELECT p.line, t.reference FROM ${ROWS} CROSS JOIN main.payments t ON t.loan_id = p.loan_id
   WHERE p.id IS NULL AND t.status = 'recorded' AND t.amount_minor = r.amount AND t.paid_at = r.paid_at
     AND t.method = r.method ORDER BY t.id LIMIT 1`,
  (reference) =>
    say(
      'A payment of the same day and amount on this loan is recorded already: {reference}. Is this ' +
        'another one?',
      { reference: hideIdentityCards(reference) },
    ),
);

export const TYPED_WARNINGS = {
  production: [
    beforeRegistration('delivered_at'),
    sameEntry(
      ['delivered_at', 'kg'],
      `main.production_entries t ON t.member_id = p.member_id AND t.delivered_at = r.delivered_at
      AND t.grams = r.kg AND t.product IS r.product`,
    ),
    unusualWeight,
  ],
  savings: [
    beforeRegistration('transacted_at'),
    sameEntry(
      ['kind', 'amount', 'transacted_at'],
      `main.savings_transactions t ON t.account_id = p.account_id AND t.kind = r.kind
      AND t.amount_minor = r.amount AND t.transacted_at = r.transacted_at`,
    ),
  ],
  payments: [beyondAmount, samePayment],
};
