/** Rows of a person: entered for one of the memberships or loans, and stored ones changed. */
import { say } from '../../../domain/values/message.ts';
import type { ImportKind } from '../../../store/contract/import/import-session.ts';
import type { HeldMembership, HeldPerson, HeldRow } from '../../../store/contract/journal/held-data.ts';
import { changePath, ENTERED, enterPath, isEnteredKind, listIn } from '../../page/entered-kinds.ts';
import { referenceOf, textOf } from '../../page/held-values.ts';
import type { Screen } from '../../visit/screen.ts';
import { findVisited, nameOfPerson, pathOf, showing } from '../person/find-visited.ts';
import { enteringScreen } from './entering.ts';
import type { Texts } from './row-form.ts';
import { textsOf } from './row-texts.ts';

const idOf = (row: HeldRow): string => textOf(row, 'id');

/** A new row for a membership; of a payment, for a loan. */
export const ENTER_FOR_PERSON: Screen = enteringScreen(
  { path: '/person/:person/enter/:kind/:row', title: say('Enter') },
  (visit) => {
    const person = findVisited(visit);
    const { kind, row } = visit.places;
    if (person === undefined || !isEnteredKind(kind) || kind === 'members') return undefined;
    const settled = ownerOf(person, kind, row ?? '');
    return (
      settled && {
        kind,
        heading: ENTERED[kind].heading,
        path: enterPath(pathOf(visit), kind, row ?? ''),
        back: pathOf(visit),
        settled,
        whose: () =>
          [nameOfPerson(person), settled.loan_reference].filter((each) => each !== undefined).join(' · '),
        shows: () => showing(person),
      }
    );
  },
);

/** What names the membership or the loan in a file. */
function ownerOf({ memberships }: HeldPerson, kind: ImportKind, id: string): Texts | undefined {
  for (const { member, loans } of memberships) {
    const cooperative = { cooperative_code: textOf(member, 'cooperative') };
    if (kind !== 'payments' && idOf(member) === id)
      return { ...cooperative, member_code: textOf(member, 'member_code') };
    const loan = kind === 'payments' ? loans.find((each) => idOf(each) === id) : undefined;
    if (loan !== undefined) return { ...cooperative, loan_reference: textOf(loan, 'reference') };
  }
  return undefined;
}

/** Kinds of rows that can be changed, and where a membership has them. */
const ROWS: { readonly [kind: string]: (held: HeldMembership) => readonly HeldRow[] } = {
  members: ({ member }) => [member],
  production: ({ deliveries }) => deliveries,
  savings: ({ savingsTransactions }) => savingsTransactions,
  loans: ({ loans }) => loans,
  payments: ({ payments }) => payments,
};

const CHANGING = {
  members: say('Change the member'),
  production: say('Change the delivery'),
  savings: say('Change the savings transaction'),
  loans: say('Change the loan'),
  payments: say('Change the payment'),
};

export const CHANGE_ROW: Screen = enteringScreen(
  { path: '/person/:person/change/:kind/:row', title: say('Change') },
  (visit) => {
    const person = findVisited(visit);
    const { kind, row: id } = visit.places;
    if (person === undefined || !isEnteredKind(kind)) return undefined;
    for (const held of person.memberships) {
      const row = ROWS[kind]?.(held).find((each) => idOf(each) === id);
      if (row === undefined) continue;
      const owner = ownersOf(kind, held, row);
      const list = listIn(visit.query);
      return {
        kind,
        heading: CHANGING[kind],
        path: changePath(pathOf(visit), kind, idOf(row), list),
        back: list ?? pathOf(visit),
        settled: { ...owner, ...keyOf(kind, row) },
        stored: { ...textsOf(visit, kind, row), ...owner },
        whose: () =>
          [nameOfPerson(person), owner.loan_reference, kind === 'members' ? '' : referenceOf(row)]
            .filter((each) => each !== undefined && each !== '')
            .join(' · '),
        shows: () => showing(person),
      };
    }
    return undefined;
  },
);

/** What finds the stored row in its cooperative. */
const keyOf = (kind: ImportKind, row: HeldRow): Texts =>
  kind === 'members'
    ? { identity_card: textOf(row, 'identity_card') }
    : { reference: textOf(row, 'reference') };

/** What names the rows to which the row belongs. */
function ownersOf(kind: ImportKind, { member, loans }: HeldMembership, row: HeldRow): Texts {
  const cooperative = { cooperative_code: textOf(row, 'cooperative') };
  if (kind === 'members') return cooperative;
  if (kind !== 'payments') return { ...cooperative, member_code: textOf(member, 'member_code') };
  const loan = loans.find((each) => idOf(each) === textOf(row, 'loan_id'));
  return { ...cooperative, loan_reference: loan === undefined ? '' : textOf(loan, 'reference') };
}
