/** Pages to enter and change rows of persons and cooperatives. */

import type { Screen, Shows } from '../desk/screen.ts';
import { unwrapText } from '../formats/spreadsheet-cells-and-empty-words.ts';
import { openRegistry } from '../open-registry.ts';
import { COOPERATIVE_FIELDS } from '../registry/cooperatives.ts';
import type { ImportKind } from '../registry/file-columns.ts';
import {
  codeOf,
  cooperativePath,
  findCooperative,
  findVisited,
  nameOfPerson,
  personPath,
  showing,
} from '../registry/pages/find-visited.ts';
import {
  changePath,
  describeMember,
  ENTERED,
  type EnteredKind,
  enterPath,
  isEnteredKind,
  listIn,
  referenceOf,
  textOf,
} from '../registry/pages/stored-values.ts';
import { openStoredData, type StoredDataStore } from '../registry/stored/stored-data.ts';
import type {
  FoundMember,
  MemberName,
  StoredMembership,
  StoredPerson,
  StoredRow,
} from '../registry/stored/stored-data-types.ts';
import { formatDate } from '../values/date-time.ts';
import { listFields } from '../values/declared-fields.ts';
import { isIdentityCard } from '../values/identity-card.ts';
import { type Message, say } from '../values/message.ts';
import { enteringScreen } from './entering.ts';
import { type Texts, textsOf } from './row-form.ts';

const idOf = (row: StoredRow): string => textOf(row, 'id');

/** Joins the known parts of a name, such as a person and a loan. */
const joined = (...names: (string | undefined)[]): string =>
  names.filter((name) => name !== undefined && name !== '').join(' · ');

/** Page to enter a row for a membership, or a payment for a loan. */
export const ENTER_FOR_PERSON: Screen = enteringScreen(
  { path: '/person/:person/enter/:kind/:row', title: say('Enter') },
  (visit) => {
    const person = findVisited(visit);
    const { kind, row = '' } = visit.places;
    if (person === undefined || !isEnteredKind(kind) || kind === 'members') return undefined;
    const settled = ownerOf(person, kind, row);
    return (
      settled && {
        kind,
        heading: ENTERED[kind].heading,
        path: enterPath(personPath(visit), kind, row),
        back: personPath(visit),
        settled,
        ownerName: () => joined(nameOfPerson(person), settled.loan_reference),
        shows: () => showing(person),
      }
    );
  },
);

/**
 * Returns columns that identify the owner of a new row.
 * @param id id of the membership; for a payment, id of the loan
 */
function ownerOf({ memberships }: StoredPerson, kind: ImportKind, id: string): Texts | undefined {
  for (const { member, loans } of memberships) {
    const cooperative = { cooperative_code: textOf(member, 'cooperative') };
    if (kind !== 'payments' && idOf(member) === id)
      return { ...cooperative, member_code: textOf(member, 'member_code') };
    const loan = kind === 'payments' ? loans.find((row) => idOf(row) === id) : undefined;
    if (loan !== undefined) return { ...cooperative, loan_reference: textOf(loan, 'reference') };
  }
  return undefined;
}

const CHANGES: {
  readonly [kind in EnteredKind]: {
    readonly heading: Message;
    readonly rows: (membership: StoredMembership) => readonly StoredRow[];
  };
} = {
  members: { heading: say('Change the member'), rows: ({ member }) => [member] },
  production: { heading: say('Change the delivery'), rows: ({ deliveries }) => deliveries },
  savings: {
    heading: say('Change the savings transaction'),
    rows: ({ savingsTransactions }) => savingsTransactions,
  },
  loans: { heading: say('Change the loan'), rows: ({ loans }) => loans },
  payments: { heading: say('Change the payment'), rows: ({ payments }) => payments },
};

export const CHANGE_ROW: Screen = enteringScreen(
  { path: '/person/:person/change/:kind/:row', title: say('Change') },
  (visit) => {
    const person = findVisited(visit);
    const { kind, row: id } = visit.places;
    if (person === undefined || !isEnteredKind(kind)) return undefined;
    const { heading, rows } = CHANGES[kind];
    for (const membership of person.memberships) {
      const row = rows(membership).find((candidate) => idOf(candidate) === id);
      if (row === undefined) continue;
      const owner = ownersOf(kind, membership, row);
      const list = listIn(visit.query);
      const reference = kind === 'members' ? '' : referenceOf(row);
      return {
        kind,
        heading,
        path: changePath(personPath(visit), kind, idOf(row), list),
        back: list ?? personPath(visit),
        settled: { ...owner, ...keyOf(kind, row) },
        stored: { ...textsOf(visit, kind, row), ...owner },
        ownerName: () => joined(nameOfPerson(person), owner.loan_reference, reference),
        shows: () => showing(person),
      };
    }
    return undefined;
  },
);

const keyOf = (kind: ImportKind, row: StoredRow): Texts =>
  kind === 'members'
    ? { identity_card: textOf(row, 'identity_card') }
    : { reference: textOf(row, 'reference') };

/** Returns the columns that identify the owner of a stored row. */
function ownersOf(kind: ImportKind, { member, loans }: StoredMembership, row: StoredRow): Texts {
  const cooperative = { cooperative_code: textOf(row, 'cooperative') };
  if (kind === 'members') return cooperative;
  if (kind !== 'payments') return { ...cooperative, member_code: textOf(member, 'member_code') };
  const loan = loans.find((candidate) => idOf(candidate) === textOf(row, 'loan_id'));
  return { ...cooperative, loan_reference: loan === undefined ? '' : textOf(loan, 'reference') };
}

// Pages to enter and change cooperatives, and to enter their rows one by one, for example from paper

export const NEW_COOPERATIVE: Screen = enteringScreen(
  { path: '/cooperatives/enter', title: say('New cooperative') },
  (visit) => ({
    kind: 'cooperatives',
    heading: say('New cooperative'),
    proposed: () => visit.use(openStoredData).listPlaces(),
    withCodes: ({ code = '' }) => ({ code: code.toUpperCase() }),
    path: '/cooperatives/enter',
    back: '/cooperatives',
    next: ({ code = '' }) => `/cooperative/${code}`,
    settled: {},
    shows: () => 'nobody',
  }),
);

export const CHANGE_COOPERATIVE: Screen = enteringScreen(
  { path: '/cooperative/:code/change', title: say('Edit the cooperative') },
  async (visit) => {
    const cooperative = await findCooperative(visit, visit.use(openRegistry));
    if (cooperative === undefined) return undefined;
    const values = Object.fromEntries(
      listFields(COOPERATIVE_FIELDS).map(({ name, property }) => [
        name,
        cooperative[property as keyof typeof COOPERATIVE_FIELDS],
      ]),
    );
    return {
      kind: 'cooperatives',
      heading: say('Edit the cooperative'),
      proposed: () => visit.use(openStoredData).listPlaces(),
      path: `${cooperativePath(visit)}/change`,
      back: cooperativePath(visit),
      settled: { code: cooperative.code },
      stored: textsOf(visit, 'cooperatives', values),
      ownerName: () => cooperative.name,
      shows: () => 'nobody',
    };
  },
);

export const ENTER_IN_COOPERATIVE: Screen = enteringScreen(
  { path: '/cooperative/:code/enter/:kind', title: say('Enter') },
  async (visit) => {
    const { kind } = visit.places;
    const cooperative = await findCooperative(visit, visit.use(openRegistry));
    if (cooperative === undefined || !isEnteredKind(kind)) return undefined;
    const { heading, carriedOver } = ENTERED[kind];
    const path = `${cooperativePath(visit)}/enter/${kind}`;
    const storedData = visit.use(openStoredData);
    const today = formatDate(visit.now, visit.desk.config.zone);
    const initial = {
      ...Object.fromEntries(carriedOver.map((name) => [name, visit.query.get(name) ?? ''])),
      ...(kind === 'members' ? { registration_date: today } : {}),
    };
    const members = openMembers(storedData, cooperative.code);
    const nameOf = (values: Texts) => members(values).map(describeMember)[0] ?? cooperative.name;
    return {
      kind,
      heading,
      path,
      back: cooperativePath(visit),
      next: (texts) => {
        // The page of the person has links to enter the member's rows.
        if (kind === 'members') return `/person/${visit.session.persons.of(numberIn(texts))}`;
        const query = new URLSearchParams(
          carriedOver.map((name): [string, string] => [name, texts[name] ?? '']),
        );
        return carriedOver.length === 0 ? path : `${path}?${query}`;
      },
      settled: { cooperative_code: codeOf(visit) },
      initial,
      withCodes: (texts) => (kind === 'members' ? {} : storedCodes(storedData, cooperative.code, texts)),
      proposed: () => (kind === 'production' ? { product: storedData.listProducts(cooperative.id) } : {}),
      isDirect: kind === 'production' || kind === 'savings',
      asksAnother: kind === 'members',
      ownerName: (values) => joined(nameOf(values), values.loan_reference),
      members,
      sharing: (values) => storedData.findMembers({ identityCard: numberIn(values) }).map(describeMember),
      shows: (values) => showingInCooperative(values, members(values)),
    };
  },
);

/** Returns the national ID as an import reads it: without spaces and the apostrophe of a spreadsheet. */
const numberIn = ({ identity_card: number = '' }: Texts): string => unwrapText(number).replace(/\s/g, '');

/** Returns the typed code of a member and the typed reference of a loan as they are stored. */
function storedCodes(storedData: StoredDataStore, cooperativeCode: string, texts: Texts): Texts {
  const { member_code: memberCode, loan_reference: reference } = texts;
  const [member] = memberCode ? storedData.findMembers({ cooperativeCode, memberCode, isTyped: true }) : [];
  const [loan] = reference ? loansOf(storedData, cooperativeCode, reference) : [];
  return {
    ...(member && { member_code: member.memberCode }),
    ...(loan && { loan_reference: textOf(loan, 'reference') }),
  };
}

/** Finds loans by reference, or else by the reference in upper case. */
function loansOf(
  storedData: StoredDataStore,
  cooperativeCode: string,
  reference: string,
): readonly StoredRow[] {
  const loans = storedData.listEntries('loans', { cooperativeCode, reference });
  if (loans.length > 0) return loans;
  return storedData.listEntries('loans', { cooperativeCode, reference: reference.toUpperCase() });
}

/** Returns a function that finds the members whom a row names by code, by loan or by national ID. */
const openMembers =
  (storedData: StoredDataStore, cooperativeCode: string) =>
  (values: Texts): readonly FoundMember[] => {
    const { member_code: code = '', loan_reference: reference = '' } = values;
    const loans = reference === '' ? [] : loansOf(storedData, cooperativeCode, reference);
    const codes = [code, ...loans.map((loan) => textOf(loan, 'member_code'))];
    const names: MemberName[] = codes.filter(Boolean).map((memberCode) => ({ memberCode }));
    if (isIdentityCard(numberIn(values))) names.push({ identityCard: numberIn(values) });
    const members = names.flatMap((name) =>
      storedData.findMembers({ ...name, cooperativeCode, isTyped: true }),
    );
    return [...new Map(members.map((member) => [member.id, member])).values()];
  };

/** Returns the persons of a row: its members, and the holder of its national ID, whom messages may reveal. */
function showingInCooperative(values: Texts, members: readonly FoundMember[]): Shows | 'nobody' {
  const number = numberIn(values);
  const identityCards = isIdentityCard(number) ? [number] : [];
  if (identityCards.length === 0 && members.length === 0) return 'nobody';
  const memberIds = members.map(({ id }) => id);
  return { fields: ['identity', 'contact', 'financials'], subject: { identityCards, memberIds } };
}
