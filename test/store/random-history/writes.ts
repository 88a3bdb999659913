/** What the service does for a key: single writes, each decided by the rules of the domain. */

import type { RegistryStore } from '../../../src/open-registry.ts';
import { TRANSACTION_KINDS } from '../../../src/registry/entries.ts';
import { decideLoan, decideNewLoan, LOAN_STATUSES, type LoanRecord } from '../../../src/registry/loans.ts';
import { MEMBER_STATUSES, type Member, type MemberValues } from '../../../src/registry/members.ts';
import {
  decideNewPayment,
  decidePayment,
  type PaymentRecord,
  type PaymentValues,
} from '../../../src/registry/payments.ts';
import { KIGALI } from '../../../src/values/date-time.ts';
import { NOW, nid } from '../conformance/import-rows.ts';
import { COOPERATIVE, memberOf } from '../conformance/sample.ts';
import { type Entity, type Rows, rowsOf } from './rows.ts';
import { CODES, memberCode, nameOf, type Write, type Writes } from './steps.ts';

const ACTOR = 'key:7';
const DAY = 86_400;
const pick = <T>(values: readonly T[], at: number): T => values[at % values.length] as T;

type Values = Writes['writes'][number];

/** @param rows as they are; a write of a row of which there is none is refused */
export function write(
  store: RegistryStore,
  rows: Rows,
  { what, at, value }: Values,
  now: number,
): Promise<unknown> {
  const idOf = (entity: Entity): number => {
    const all = rowsOf(rows, entity);
    return (all[at % Math.max(all.length, 1)]?.id ?? 1) as number;
  };
  const { cooperatives, members, loans, payments, entries } = store;
  const updateMember = (decide: (stored: Member) => Partial<MemberValues>) =>
    members.update(idOf('member'), (stored) => ({ ...stored, ...decide(stored) }), now, ACTOR);
  const updatePayment = (given: Partial<PaymentRecord>) =>
    payments.update(
      idOf('payment'),
      (stored, loan) => decidePayment(stored, loan, { ...stored, ...given }, KIGALI),
      now,
      ACTOR,
    );
  const addDelivery = (reference: string | null) => {
    const values = { deliveredAt: NOW - DAY * (1 + (value % 2)), grams: 1 + (value % 4), product: null };
    return entries.deliveries.create(idOf('member'), { reference, ...values }, now, ACTOR);
  };
  const writes: { readonly [what in Write]: () => Promise<unknown> } = {
    member: () =>
      members.create(
        memberOf(value % 8, {
          ...{ cooperativeId: idOf('cooperative'), memberCode: memberCode(value % 9) },
          fullName: nameOf(value % 8, 3),
        }),
        now,
        ACTOR,
      ),
    name: () =>
      updateMember(({ identityCard }) => ({
        fullName: nameOf(Number(identityCard.slice(6, 13)) % 10, value % 3),
      })),
    code: () => updateMember(() => ({ memberCode: memberCode(value % 9) })),
    number: () => updateMember(() => ({ identityCard: nid(value % 8) })),
    memberStatus: () => updateMember(() => ({ status: pick(MEMBER_STATUSES, value) })),
    cooperative: () => cooperatives.create({ ...COOPERATIVE, code: `D-${value % 3}` }, now, ACTOR),
    cooperativeName: () =>
      cooperatives.update(
        idOf('cooperative'),
        (stored) => ({ ...stored, name: `Name ${value % 3}` }),
        now,
        ACTOR,
      ),
    cooperativeCode: () =>
      cooperatives.update(
        idOf('cooperative'),
        (stored) => ({ ...stored, code: pick(CODES, value) }),
        now,
        ACTOR,
      ),
    loan: () => {
      const values = {
        ...{ memberId: idOf('member'), reference: `L-${value}`, amountMinor: 5_000 },
        ...{
          interestRateHundredths: 100,
          loanStartDate: null,
          loanEndDate: null,
          status: 'approved' as const,
        },
      };
      return loans.create(decideNewLoan(values, now), now, ACTOR);
    },
    loanStatus: () => {
      const decide = (stored: LoanRecord) =>
        decideLoan(stored, { ...stored, status: pick(LOAN_STATUSES, value) }, now);
      return loans.update(idOf('loan'), decide, now, ACTOR);
    },
    payment: () => {
      const values: PaymentValues = {
        ...{ loanId: idOf('loan'), amountMinor: 1 + (value % 5), method: 'cash', status: 'recorded' },
        ...{ reference: `Q-${value}`, paidAt: NOW - DAY },
      };
      return payments.create(values, (loan) => decideNewPayment(loan, values, KIGALI), now, ACTOR);
    },
    delivery: () => addDelivery(`P-${value}`),
    unnumbered: () => addDelivery(null),
    saving: () => {
      const values = {
        ...{ accountNumber: `S-${1 + (value % 4)}`, reference: value % 3 === 0 ? null : `R-${value}` },
        ...{ kind: pick(TRANSACTION_KINDS, value), amountMinor: 1 + (value % 5), transactedAt: NOW - DAY },
      };
      return entries.savingsTransactions.create(idOf('member'), values, now, ACTOR);
    },
    void: () => updatePayment({ status: 'void' }),
    amount: () => updatePayment({ amountMinor: 1 + (value % 5), method: pick(['cash', 'bank'], value) }),
  };
  return writes[what]();
}
