/** Cooperatives entered and changed by hand, and rows of a cooperative one after the other, as from paper. */
import { COOPERATIVE_FIELDS } from '../../../domain/membership/cooperatives.ts';
import { isIdentityCard } from '../../../domain/membership/identity-card.ts';
import { formatDate } from '../../../domain/values/date-time.ts';
import { listFields } from '../../../domain/values/declared-fields.ts';
import { say } from '../../../domain/values/message.ts';
import type {
  FoundMember,
  HeldDataStore,
  HeldRow,
  MemberName,
} from '../../../store/contract/journal/held-data.ts';
import { ENTERED, isEnteredKind } from '../../page/entered-kinds.ts';
import { describeMember, textOf } from '../../page/held-values.ts';
import type { Screen, Shows } from '../../visit/screen.ts';
import { codeOf, findCooperative, pathOf } from '../cooperative/find-cooperative.ts';
import { enteringScreen } from './entering.ts';
import type { Texts } from './row-form.ts';
import { textsOf } from './row-texts.ts';

export const NEW_COOPERATIVE: Screen = enteringScreen(
  { path: '/cooperatives/enter', title: say('New cooperative') },
  (visit) => ({
    kind: 'cooperatives',
    heading: say('New cooperative'),
    proposed: () => visit.use((storage) => storage.openHeldData()).listPlaces(),
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
    const registry = visit.use((storage) => storage.openRegistry());
    const cooperative = await findCooperative(visit, registry);
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
      proposed: () => visit.use((storage) => storage.openHeldData()).listPlaces(),
      path: `${pathOf(visit)}/change`,
      back: pathOf(visit),
      settled: { code: cooperative.code },
      stored: textsOf(visit, 'cooperatives', values),
      whose: () => cooperative.name,
      shows: () => 'nobody',
    };
  },
);

export const ENTER_IN_COOPERATIVE: Screen = enteringScreen(
  { path: '/cooperative/:code/enter/:kind', title: say('Enter') },
  async (visit) => {
    const { kind } = visit.places;
    const registry = visit.use((storage) => storage.openRegistry());
    const cooperative = await findCooperative(visit, registry);
    if (cooperative === undefined || !isEnteredKind(kind)) return undefined;
    const { heading, kept } = ENTERED[kind];
    const path = `${pathOf(visit)}/enter/${kind}`;
    const held = visit.use((storage) => storage.openHeldData());
    const today = formatDate(visit.now, visit.desk.config.zone);
    const initial = {
      ...Object.fromEntries(kept.map((name) => [name, visit.query.get(name) ?? ''])),
      ...(kind === 'members' ? { registration_date: today } : {}),
    };
    const members = openMembers(held, cooperative.code);
    const nameOf = (values: Texts) => members(values).map(describeMember)[0] ?? cooperative.name;
    return {
      kind,
      heading,
      path,
      back: pathOf(visit),
      // The next line of the same paper.
      next: (given) => {
        // Of a new member the page of the person, where everything else is entered.
        if (kind === 'members') return `/person/${visit.session.persons.of(numberIn(given))}`;
        const query = new URLSearchParams(kept.map((name): [string, string] => [name, given[name] ?? '']));
        return kept.length === 0 ? path : `${path}?${query}`;
      },
      settled: { cooperative_code: codeOf(visit) },
      initial,
      withCodes: (typed) => (kind === 'members' ? {} : storedCodes(held, cooperative.code, typed)),
      proposed: () => (kind === 'production' ? { product: held.listProducts(cooperative.id) } : {}),
      isDirect: kind === 'production' || kind === 'savings',
      asksAnother: kind === 'members',
      whose: (values) =>
        [nameOf(values), values.loan_reference].filter((each) => each !== undefined).join(' · '),
      members,
      // Those who have the national ID of a new member already.
      sharing: (values) => held.findMembers({ identityCard: numberIn(values) }).map(describeMember),
      shows: (values) => showing(values, members(values)),
    };
  },
);

/** The national ID, which may be typed with spaces. */
const numberIn = ({ identity_card: typed = '' }: Texts): string => typed.replace(/\s/g, '');

/** Codes of members and references of loans as they are stored. */
function storedCodes(held: HeldDataStore, cooperativeCode: string, typed: Texts): Texts {
  const { member_code: memberCode, loan_reference: typedLoan } = typed;
  const [member] = memberCode ? held.findMembers({ cooperativeCode, memberCode, isTyped: true }) : [];
  const [loan] = typedLoan ? loansOf(held, cooperativeCode, typedLoan) : [];
  return {
    ...(member && { member_code: member.memberCode }),
    ...(loan && { loan_reference: textOf(loan, 'reference') }),
  };
}

/** Many references are in upper case. */
function loansOf(held: HeldDataStore, cooperativeCode: string, reference: string): readonly HeldRow[] {
  const found = held.listEntries('loans', { cooperativeCode, reference });
  const upper = reference.toUpperCase();
  return found.length > 0 ? found : held.listEntries('loans', { cooperativeCode, reference: upper });
}

/** The members whom a row names by the code, the borrower of its loan, and who has the national ID there. */
function openMembers(
  held: HeldDataStore,
  cooperativeCode: string,
): (values: Texts) => readonly FoundMember[] {
  return (values) => {
    const { member_code: memberCode = '', loan_reference: reference = '' } = values;
    const loans = reference === '' ? [] : loansOf(held, cooperativeCode, reference);
    const codes = [memberCode, ...loans.map((loan) => textOf(loan, 'member_code'))];
    const names: MemberName[] = codes.filter((each) => each !== '').map((code) => ({ memberCode: code }));
    if (isIdentityCard(numberIn(values))) names.push({ identityCard: numberIn(values) });
    const found = names.flatMap((name) => held.findMembers({ ...name, cooperativeCode, isTyped: true }));
    return found.filter(({ id }, i) => found.findIndex((each) => each.id === id) === i);
  };
}

/** A row tells of the member it names; that of a member whether somebody has the number. */
function showing(values: Texts, members: readonly FoundMember[]): Shows | 'nobody' {
  const number = numberIn(values);
  const identityCards = isIdentityCard(number) ? [number] : [];
  if (identityCards.length === 0 && members.length === 0) return 'nobody';
  const memberIds = members.map(({ id }) => id);
  return { fields: ['identity', 'contact', 'financials'], subject: { identityCards, memberIds } };
}
