/** What the statements of an import ask JavaScript for. */
import type { LoanStatus } from '../../../../domain/lending/loans.ts';
import { refuseCountedPayment, refuseNewPayment } from '../../../../domain/lending/payments.ts';
import { haveCommonWord } from '../../../../domain/membership/names.ts';
import type { TimeZone } from '../../../../domain/values/date-time.ts';
import { mayEchoCell } from '../../../../domain/values/errors.ts';
import { pack } from '../../../../domain/values/message.ts';
import type { Connection } from '../../engine/connection.ts';
import { hashIdentity } from '../../identity/identity-hash.ts';

/**
 * Adds `identity_hash(secret, number)`, under which erased persons are known,
 * `may_show(code)`, whether a message may name a code or reference of the file, and
 * `have_common_word(name, name)`.
 */
export function addSqlFunctions({ raw }: Connection): void {
  raw.function('identity_hash', { deterministic: true }, (secret, number) =>
    hashIdentity(secret as Buffer, String(number)),
  );
  raw.function('may_show', { deterministic: true }, (code) =>
    typeof code === 'string' && mayEchoCell(code) ? 1 : 0,
  );
  raw.function('have_common_word', { deterministic: true }, (one, other) =>
    typeof one === 'string' && typeof other === 'string' && haveCommonWord(one, other) ? 1 : 0,
  );
}

/**
 * Adds `refused_new_payment(status)` and `refused_counted_payment(paid_until, paid_at)`: why a loan does not
 * take a payment.
 * @param zone in which the messages show instants
 */
export function addPaymentMessages({ raw }: Connection, zone: TimeZone): void {
  raw.function('refused_new_payment', { deterministic: true }, (status) => {
    const refused = refuseNewPayment(status as LoanStatus);
    return refused && pack(refused);
  });
  raw.function('refused_counted_payment', { deterministic: true }, (paidUntil, paidAt) => {
    const refused = refuseCountedPayment({ paidUntil: paidUntil as number }, paidAt as number, zone);
    return refused && pack(refused);
  });
}
