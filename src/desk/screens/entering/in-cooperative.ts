/** Cooperatives entered and changed by hand, and rows of a cooperative one after the other, as from paper. */
import { COOPERATIVE_FIELDS } from '../../../domain/membership/cooperatives.ts';
import { isIdentityCard } from '../../../domain/membership/identity-card.ts';
import { listFields } from '../../../domain/values/declared-fields.ts';
import { say } from '../../../domain/values/message.ts';
import type { FoundMember, MemberName } from '../../../store/contract/journal/held-data.ts';
import { ENTERED, isEnteredKind } from '../../page/entered-kinds.ts';
import { textOf } from '../../page/held-values.ts';
import type { Screen, Shows, Visit } from '../../visit/screen.ts';
import { codeOf, findCooperative, pathOf } from '../cooperative/find-cooperative.ts';
import { enteringScreen } from './entering.ts';
import type { Texts } from './row-form.ts';
import { textsOf } from './row-texts.ts';

export const NEW_COOPERATIVE: Screen = enteringScreen(
  { path: '/cooperatives/enter', title: say('New cooperative') },
  () => ({
    kind: 'cooperatives',
    heading: say('New cooperative'),
    path: '/cooperatives/enter',
    back: '/cooperatives',
    next: ({ code = '' }) => `/cooperative/${code.toUpperCase()}`,
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
    const initial = Object.fromEntries(kept.map((name) => [name, visit.query.get(name) ?? '']));
    const nameOfMember = openMemberNames(visit);
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
      isDirect: kind === 'production' || kind === 'savings',
      whose: (values) =>
        [describeMember(nameOfMember(values)) ?? cooperative.name, values.loan_reference]
          .filter((each) => each !== undefined)
          .join(' · '),
      sharing: sharingOf(visit),
      shows: (values) => showing(values, nameOfMember(values)),
    };
  },
);

/** The national ID, which may be typed with spaces. */
const numberIn = ({ identity_card: typed = '' }: Texts): string => typed.replace(/\s/g, '');

/** Those who have the national ID of a new member already. */
const sharingOf =
  (visit: Visit) =>
  (values: Texts): readonly string[] => {
    const held = visit.use((storage) => storage.openHeldData());
    const person = held.findPerson(numberIn(values));
    return (person?.memberships ?? []).map(({ member }) =>
      ['cooperative', 'member_code', 'full_name'].map((field) => textOf(member, field)).join(' · '),
    );
  };

/** The member that a row names by the code of the cooperative and of the member. */
export function openMemberNames(visit: Visit): (values: Texts) => FoundMember | undefined {
  const held = visit.use((storage) => storage.openHeldData());
  return ({ cooperative_code: cooperativeCode = '', member_code: memberCode = '' }) => {
    if (memberCode === '') return undefined;
    const name: MemberName = { cooperativeCode, memberCode };
    return held.findMembers(name)[0];
  };
}

export const describeMember = (member: FoundMember | undefined): string | undefined =>
  member && `${member.cooperativeCode} · ${member.memberCode} · ${member.fullName}`;

/** A row tells of the member it names; that of a member whether somebody has the number. */
export function showing(values: Texts, member: FoundMember | undefined): Shows | 'nobody' {
  const number = numberIn(values);
  const identityCards = isIdentityCard(number) ? [number] : [];
  if (identityCards.length === 0 && member === undefined) return 'nobody';
  const memberIds = member === undefined ? [] : [member.id];
  return { fields: ['identity', 'contact', 'financials'], subject: { identityCards, memberIds } };
}
