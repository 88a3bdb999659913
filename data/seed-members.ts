// Turns the invented people into memberships: spelling, code, role, status and joining date.
import type { Cooperative } from './seed-cooperatives.ts';
import { csvText, dayOf, formatDay, formatTime, LAST_DAY } from './seed-format.ts';
import { clerkSpelling, type Spelling, variedSpellings } from './seed-names.ts';
import type { Person } from './seed-people.ts';
import { createRandom, type Random } from './seed-random.ts';

export interface Member {
  readonly cooperative: Cooperative;
  readonly person: Person;
  readonly code: string;
  readonly role: string;
  readonly status: string;
  readonly joinedDay: number;
  readonly joinedMinute: number;
  readonly spelling: Spelling;
}

type Joining = Omit<Member, 'code' | 'role'>;

const OFFICES: readonly string[] =
  'PRESIDENT,VICE_PRESIDENT,SECRETARY,TREASURER,ADVISOR,ADVISOR,AUDITOR,AUDITOR,MANAGER'.split(',');

function drawStatus(random: Random, person: Person, cooperative: Cooperative): string {
  if (person.part !== 'ordinary') return 'active';
  if (person.deceased) return 'deceased';
  if (cooperative.status === 'dissolved') return random.chance(0.3) ? 'withdrawn' : 'inactive';
  return random.weighted([
    ['active', 91],
    ['inactive', 4],
    ['suspended', 2],
    ['withdrawn', 3],
  ]);
}

function drawJoinedDay(random: Random, person: Person, cooperative: Cooperative): number {
  const adult = dayOf(`${person.birthYear + 18}-12-31`);
  const earliest = Math.min(Math.max(dayOf(cooperative.registered), adult), LAST_DAY - 60);
  const latest = cooperative.status === 'active' ? LAST_DAY - 5 : dayOf('2021-12-31');
  const span = Math.max(latest - earliest, 30);
  return earliest + Math.floor(random.unit() * random.unit() * span); // Many join early, few late.
}

/** The showcase and twice-daily people founded their first cooperative: nobody joins it before them. */
function drawJoining(
  random: Random,
  person: Person,
  cooperative: Cooperative,
  isFirst: boolean,
  spelling: Spelling,
): Joining {
  const founder = isFirst && person.part !== 'ordinary';
  return {
    cooperative,
    person,
    spelling,
    status: drawStatus(random, person, cooperative),
    joinedDay: founder ? dayOf(cooperative.registered) : drawJoinedDay(random, person, cooperative),
    joinedMinute: founder ? 7 * 60 + 30 : random.int(8 * 60, 16 * 60 + 59),
  };
}

function drawJoinings(random: Random, all: readonly Cooperative[], people: readonly Person[]): Joining[] {
  return people.flatMap((person) => {
    const count = person.cooperatives.length;
    const varied = count > 1 ? variedSpellings(person.name, count, random) : [];
    return person.cooperatives.map((index, position) => {
      const cooperative = all[index] as Cooperative;
      const spelling = varied[position] ?? clerkSpelling(person.name, index);
      return drawJoining(random, person, cooperative, position === 0, spelling);
    });
  });
}

/** Numbers members in the order of joining, and gives the offices to active ones if there are enough. */
function numberMembers(random: Random, joinings: readonly Joining[]): Member[] {
  const ordered = [...joinings].sort(
    (left, right) => left.joinedDay - right.joinedDay || left.joinedMinute - right.joinedMinute,
  );
  const ordinary = ordered.filter((one) => one.person.part === 'ordinary');
  const active = ordinary.filter((one) => one.status === 'active');
  const officers = random.shuffled(active.length >= OFFICES.length ? active : ordinary);
  const offices = new Map(OFFICES.map((office, index) => [officers[index], office]));
  return ordered.map((joining, index) => ({
    ...joining,
    code: `${joining.cooperative.prefix}-${String(index + 1).padStart(5, '0')}`,
    role: offices.get(joining) ?? 'MEMBER',
  }));
}

/** @returns all memberships, grouped by cooperative, in the order of the cooperatives */
export function drawMembers(cooperatives: readonly Cooperative[], people: readonly Person[]): Member[] {
  const random = createRandom('members');
  const joinings = drawJoinings(random, cooperatives, people);
  return cooperatives.flatMap((cooperative) =>
    numberMembers(
      random,
      joinings.filter((joining) => joining.cooperative === cooperative),
    ),
  );
}

const HEADER: readonly string[] = (
  'cooperative_code,identity_card,member_code,full_name,first_name,last_name,gender,date_of_birth,' +
  'mobile,role,status,registration_date'
).split(',');

/** Registers have gaps: some cooperatives keep one name column, some members gave no birth date or phone. */
function memberRow(random: Random, member: Member, splitNames: boolean): string[] {
  const { person, spelling } = member;
  const keep = (value: string, share: number) =>
    random.chance(share) || person.part !== 'ordinary' ? value : '';
  return [
    member.cooperative.code,
    person.identityCard,
    member.code,
    spelling.full,
    splitNames ? spelling.first : '',
    splitNames ? spelling.last : '',
    keep(person.male ? 'MALE' : 'FEMALE', 0.95),
    keep(formatDay(person.birthDay), 0.88),
    keep(person.mobile, 0.8),
    member.role,
    member.status,
    formatTime(member.joinedDay, member.joinedMinute),
  ];
}

export function membersCsv(cooperatives: readonly Cooperative[], members: readonly Member[]): string {
  const random = createRandom('member columns');
  const rows = members.map((member) =>
    memberRow(random, member, cooperatives.indexOf(member.cooperative) % 3 !== 2),
  );
  return csvText(HEADER, rows);
}
