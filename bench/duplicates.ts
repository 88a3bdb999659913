/**
 * How many double registrations the command `duplicates` finds, and how much of what it finds is one: counted
 * with an invented registry in which both are known. Options: `--members 1000000`, `--seed text`.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { importFile, runRegistry } from './dataset.ts';
import { composeName, type PersonName, variedSpellings } from './person-names.ts';
import { createRandom } from './random.ts';

const { values } = parseArgs({
  options: {
    members: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: 'double registrations' },
  },
});
const random = createRandom(values.seed);
const size = Number(values.members);
/** A cooperative has 150 members. */
const cooperatives = Math.ceil(size / 150);
/** Of every so many people one is registered twice, and one has a relative who looks alike. */
const ONE_IN = { twice: 100, relative: 50 } as const;

interface Person {
  readonly card: string;
  readonly name: PersonName;
  readonly isMan: boolean;
  readonly born: string;
  readonly phone: string;
}

interface Registration extends Person {
  readonly cooperative: number;
  readonly spelling: string;
}

const pad = (n: number, width: number): string => String(n).padStart(width, '0');
/** A tenth of all have one of a few surnames. */
const FREQUENT = Array.from({ length: 5 }, () => composeName(random, true).last);

function drawPerson(): Person {
  const isMan = random.chance(0.5);
  const year = random.int(1945, 2004);
  const name = composeName(random, isMan);
  // Order numbers are as dense as those of a country; from 9000000 on they are not issued.
  const order = `9${pad(random.int(0, 199_999), 6)}`;
  return {
    card: `1${year}${isMan ? 8 : 7}${order}${random.chance(0.1) ? 1 : 0}${pad(random.int(0, 99), 2)}`,
    name: random.chance(0.1) ? { ...name, last: random.pick(FREQUENT) } : name,
    isMan,
    // Many know the year only.
    born: random.chance(0.15)
      ? `${year}-01-01`
      : `${year}-${pad(random.int(1, 12), 2)}-${pad(random.int(1, 28), 2)}`,
    phone: drawPhone(),
  };
}

const drawPhone = (): string => `+25078${pad(random.int(0, 9_999_999), 7)}`;
const full = ({ first, last }: PersonName): string => `${last} ${first}`;
const otherSpelling = (name: PersonName): string => variedSpellings(name, 2, random)[1]?.full ?? full(name);
const orNothing = (text: string, share: number): string => (random.chance(share) ? '' : text);

function withDigit(card: string): string {
  const place = random.int(1, 15);
  const digit = (Number(card[place]) + random.int(1, 9)) % 10;
  return `${card.slice(0, place)}${digit}${card.slice(place + 1)}`;
}

function withSwap(card: string): string {
  const places = Array.from({ length: 14 }, (_, i) => i + 1).filter((i) => card[i] !== card[i + 1]);
  const place = random.pick(places);
  return `${card.slice(0, place)}${card[place + 1]}${card[place]}${card.slice(place + 2)}`;
}

type Change = (first: Registration) => Partial<Registration>;
const elsewhere = () => random.int(0, cooperatives - 1);
const unsure = ({ born, phone }: Person) => ({ born: orNothing(born, 0.3), phone: orNothing(phone, 0.4) });

/** Double registrations by what the second one has in common with the first. */
const TWICE: { readonly [kind: string]: Change } = {
  'one digit, same list': (a) => ({ ...unsure(a), card: withDigit(a.card) }),
  'two digits swapped, same list': (a) => ({ ...unsure(a), card: withSwap(a.card) }),
  'one digit, other list and spelling': (a) => ({
    ...{ ...unsure(a), card: withDigit(a.card), cooperative: elsewhere(), spelling: otherSpelling(a.name) },
  }),
  'other number, same phone, other spelling': (a) => ({
    ...{ card: drawPerson().card, cooperative: elsewhere(), spelling: otherSpelling(a.name) },
    born: orNothing(a.born, 0.5),
  }),
  'other number and phone, same list, name and birth': (a) => ({
    ...{ card: drawPerson().card, phone: drawPhone() },
    spelling: random.chance(0.5) ? `${a.name.first} ${a.name.last.toUpperCase()}` : a.spelling,
  }),
  'two digits, other phone, other spelling': (a) => ({
    ...{ card: withDigit(withDigit(a.card)), phone: drawPhone(), born: '', spelling: otherSpelling(a.name) },
  }),
};

const firstName = (a: Person, isMan = a.isMan): string => {
  const { first } = composeName(random, isMan);
  return first === a.name.first ? firstName(a, isMan) : first;
};
const relative = (a: Person, isMan: boolean): Partial<Registration> => {
  const first = firstName(a, isMan);
  return { isMan, name: { ...a.name, first }, spelling: `${a.name.last} ${first}` };
};
const nextTo = (card: string): string =>
  `${card.slice(0, 12)}${(Number(card[12]) + 1) % 10}${card.slice(13)}`;

/** Two people who look alike. */
const RELATIVES: { readonly [kind: string]: Change } = {
  'twins: surname, birth, phone, next number': (a) => ({ ...relative(a, a.isMan), card: nextTo(a.card) }),
  'siblings: surname, phone': (a) => ({ ...drawPerson(), ...relative(a, a.isMan), phone: a.phone }),
  'couple: phone': (a) => ({
    ...relative({ ...drawPerson(), name: composeName(random, !a.isMan) }, !a.isMan),
    card: drawPerson().card,
    born: drawPerson().born,
  }),
  'parent and child: name, phone': () => {
    const { card, born } = drawPerson();
    return { card, born: orNothing(born, 0.3) };
  },
  'neighbours: next number': (a) => {
    const { name, phone, born } = drawPerson();
    return { card: nextTo(a.card), name, phone, born, spelling: full(name) };
  },
  'office: phone': () => {
    const person = drawPerson();
    return { ...person, spelling: full(person.name), phone: '+250788000001' };
  },
};

/** What is known of two registrations, by the national IDs of both. */
const known = new Map<string, { readonly kind: string; readonly isDouble: boolean }>();
const pairOf = (one: string, other: string): string => [one, other].sort().join(' ');
const codes = new Map<string, string>();

function writeMembers(path: string): void {
  const file = openSync(path, 'w');
  const used = new Set<string>();
  let text = 'cooperative_code,identity_card,member_code,full_name,gender,date_of_birth,mobile\n';
  let rows = 0;
  const add = (one: Registration): void => {
    const code = `M-${rows++}`;
    codes.set(code, one.card);
    used.add(`${one.card} ${one.cooperative}`);
    const { cooperative, card, spelling, isMan, born, phone } = one;
    text += `C-${cooperative},${card},${code},${spelling},${isMan ? 'M' : 'F'},${born},${phone}\n`;
    if (text.length < 1_000_000) return;
    writeSync(file, text);
    text = '';
  };
  const addSecond = (
    first: Registration,
    [kind, change]: readonly [string, Change],
    isDouble: boolean,
  ): void => {
    const second = { ...first, ...change(first) };
    if (used.has(`${second.card} ${second.cooperative}`)) return;
    add(second);
    known.set(pairOf(first.card, second.card), { kind, isDouble });
  };
  while (rows < size) {
    const person = drawPerson();
    const first = {
      ...{ ...person, ...unsure(person), cooperative: elsewhere(), spelling: full(person.name) },
    };
    if (used.has(`${first.card} ${first.cooperative}`)) continue;
    const isTwice = random.chance(1 / ONE_IN.twice);
    const hasRelative = !isTwice && random.chance(1 / ONE_IN.relative);
    // What a pair has in common is known of the first one.
    const shown = isTwice || hasRelative ? { ...first, born: person.born, phone: person.phone } : first;
    add(shown);
    if (isTwice) addSecond(shown, random.pick(Object.entries(TWICE)), true);
    if (hasRelative) addSecond(shown, random.pick(Object.entries(RELATIVES)), false);
    // A tenth belong to a second cooperative, which spells the name in its own way.
    if (random.chance(0.1)) {
      const second = { ...shown, cooperative: elsewhere(), spelling: otherSpelling(person.name) };
      if (!used.has(`${second.card} ${second.cooperative}`)) add(second);
    }
  }
  writeSync(file, text);
  closeSync(file);
}

interface Output {
  readonly pairs: readonly { score: number; members: readonly { member: string }[] }[];
  readonly not_compared: readonly unknown[];
}

const percent = (part: number, of: number): string =>
  of === 0 ? '–' : `${((100 * part) / of).toFixed(1)} %`;

/** Of scores. */
const BANDS = [
  [90, 100],
  [75, 89],
  [60, 74],
  [50, 59],
  [40, 49],
  [0, 100],
] as const;

function report({ pairs, not_compared }: Output): void {
  const cardOf = (member: string) => codes.get(member.split('/')[1] ?? '') ?? '';
  const found = pairs.map(({ score, members: [one, other] }) => {
    const pair = pairOf(cardOf(one?.member ?? ''), cardOf(other?.member ?? ''));
    return { pair, score, ...(known.get(pair) ?? { kind: 'two strangers', isDouble: false }) };
  });
  const right = new Set(found.filter(({ isDouble }) => isDouble).map(({ pair }) => pair));
  console.log('\n| Registered twice | Pairs | Found (recall) |\n|---|---|---|');
  for (const kind of Object.keys(TWICE)) {
    const all = [...known].filter(([, each]) => each.kind === kind).map(([pair]) => pair);
    const hits = all.filter((pair) => right.has(pair)).length;
    console.log(`| ${kind} | ${all.length} | ${percent(hits, all.length)} |`);
  }
  console.log('\n| Score | Pairs listed | Registered twice (precision) |\n|---|---|---|');
  for (const [least, most] of BANDS) {
    const listed = found.filter(({ score }) => score >= least && score <= most);
    const hits = listed.filter(({ isDouble }) => isDouble).length;
    const band = least === 0 ? 'all' : `${least} to ${most}`;
    console.log(`| ${band} | ${listed.length} | ${percent(hits, listed.length)} |`);
  }
  console.log('\n| Two people | Pairs | Listed all the same |\n|---|---|---|');
  for (const kind of [...Object.keys(RELATIVES), 'two strangers']) {
    const all = [...known.values()].filter((each) => each.kind === kind).length;
    const listed = found.filter((each) => each.kind === kind).length;
    console.log(`| ${kind} | ${kind === 'two strangers' ? '' : all} | ${listed} |`);
  }
  console.log(`\nNot compared: ${JSON.stringify(not_compared)}`);
}

const folder = mkdtempSync(join(tmpdir(), 'registry-duplicates-'));
try {
  const databaseFile = join(folder, 'registry.db');
  const [cooperativesFile, membersFile] = [join(folder, 'cooperatives.csv'), join(folder, 'members.csv')];
  const lines = Array.from({ length: cooperatives }, (_, i) => `C-${i},Cooperative ${i}\n`);
  writeFileSync(cooperativesFile, `code,name\n${lines.join('')}`);
  writeMembers(membersFile);
  await importFile(databaseFile, 'cooperatives', cooperativesFile);
  await importFile(databaseFile, 'members', membersFile, '--yes');
  const startedMs = performance.now();
  const { out, peakMib } = await runRegistry(databaseFile, ['duplicates', '--json']);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${codes.size} members: ${seconds} s, at most ${peakMib} MiB resident`);
  report(JSON.parse(out));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
