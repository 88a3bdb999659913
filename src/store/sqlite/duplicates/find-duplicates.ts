/**
 * Finds members who may be one person. Whom to compare, three blocks say, none of which grows with the square
 * of the members; whether two are alike, the rules of domain/membership/duplicates.ts do.
 */
import { judgePair, type Likeness, type Registered } from '../../../domain/membership/duplicates.ts';
import { nameKey } from '../../../domain/membership/names.ts';
import type { Crowd, FoundMember, LikelyDuplicate, LikelyDuplicates } from '../../ports/journal/held-data.ts';
import type { Connection } from '../engine/connection.ts';
import { ERASED_STATUS } from '../identity/erased-rows.ts';
import { personPair, readDismissed } from './dismissed.ts';
import { findNearNumbers } from './near-numbers.ts';

/** More people with one phone, or one name and date of birth in a cooperative, are no family. */
export const CROWD = 20;
/** Kept of those found. */
const MOST_PAIRS = 100_000;

interface Row extends Registered {
  readonly id: number;
}

interface Pair extends Likeness {
  readonly one: Row;
  readonly other: Row;
}

/** Reads one snapshot. @param cooperativeCode only pairs of which one is a member there */
export const findDuplicates = (db: Connection, cooperativeCode?: string): LikelyDuplicates =>
  db.transaction.deferred(() => {
    const cooperativeId =
      cooperativeCode === undefined
        ? undefined
        : db.value<number | undefined>('SELECT id FROM main.cooperatives WHERE code = ?', [cooperativeCode]);
    const found = openFound(db, cooperativeId);
    const crowds = [comparePhones(db, found), compareNamesakes(db, found)];
    findNearNumbers(db, found.compare);
    const dismissed = readDismissed(db);
    const { pairs, dropped } = found.list();
    const shown = pairs.filter(
      ({ one, other }) => !dismissed.has(personPair(one.identityCard, other.identityCard)),
    );
    return {
      pairs: shown.map((pair) => describePair(db, pair)),
      dropped,
      dismissed: pairs.length - shown.length,
      crowds: crowds.filter(({ groups }) => groups > 0),
    };
  });

type Found = ReturnType<typeof openFound>;

/** The pairs found so far: of two people the likeliest pair of their memberships. */
function openFound(db: Connection, cooperativeId: number | undefined) {
  const read = db.raw.prepare<[number], Row>(
    `SELECT id, cooperative_id AS cooperativeId, identity_card AS identityCard, full_name AS fullName, gender,
       date_of_birth AS dateOfBirth, mobile FROM main.members WHERE id = ?`,
  );
  const crowdedPhones = new Set<string>();
  let best = new Map<string, Pair>();
  let dropped = 0;
  const readRow = (id: number): Row => {
    const row = read.get(id) as Row;
    return row.mobile !== null && crowdedPhones.has(row.mobile) ? { ...row, mobile: null } : row;
  };
  const sorted = () =>
    [...best].sort(([, a], [, b]) => b.score - a.score || a.one.id - b.one.id || a.other.id - b.other.id);
  const prune = () => {
    dropped += best.size - MOST_PAIRS;
    best = new Map(sorted().slice(0, MOST_PAIRS));
  };
  return {
    crowdedPhones,
    compare(oneId: number, otherId: number): void {
      const [one, other] = [readRow(Math.min(oneId, otherId)), readRow(Math.max(oneId, otherId))];
      if (cooperativeId !== undefined && ![one.cooperativeId, other.cooperativeId].includes(cooperativeId))
        return;
      const likeness = judgePair(one, other);
      if (likeness === undefined) return;
      const key = personPair(one.identityCard, other.identityCard);
      if (likeness.score > (best.get(key)?.score ?? 0)) best.set(key, { ...likeness, one, other });
      if (best.size >= 2 * MOST_PAIRS) prune();
    },
    list: () => {
      if (best.size > MOST_PAIRS) prune();
      return { pairs: sorted().map(([, pair]) => pair), dropped };
    },
  };
}

interface Grouped {
  readonly id: number;
  readonly card: string;
  readonly key: string;
}

/** Compares within groups; those of too many people are counted. @param rows sorted by key */
function compareGroups(
  shared: Crowd['shared'],
  rows: Iterable<Grouped>,
  { compare }: Found,
  onCrowd: (key: string) => void = () => undefined,
): Crowd {
  let [groups, members] = [0, 0];
  for (const group of groupsOf(rows)) {
    const people = new Set(group.map(({ card }) => card)).size;
    if (people > CROWD) {
      groups++;
      members += group.length;
      onCrowd((group[0] as Grouped).key);
    } else if (people > 1) {
      group.forEach((one, i) => {
        for (const other of group.slice(0, i)) if (one.card !== other.card) compare(one.id, other.id);
      });
    }
  }
  return { shared, groups, members };
}

/** Of two and more. @param rows sorted by key */
function* groupsOf<Row extends { readonly key: string }>(rows: Iterable<Row>): Generator<Row[]> {
  let group: Row[] = [];
  for (const row of rows) {
    if (group[0]?.key !== row.key) {
      if (group.length > 1) yield group;
      group = [];
    }
    group.push(row);
  }
  if (group.length > 1) yield group;
}

const comparePhones = (db: Connection, found: Found): Crowd =>
  compareGroups(
    'phone',
    db.raw
      .prepare<[], Grouped>(
        `SELECT id, identity_card AS card, mobile AS key FROM main.members INDEXED BY members_mobile
         WHERE mobile IN (SELECT mobile FROM main.members INDEXED BY members_mobile WHERE mobile IS NOT NULL
           GROUP BY mobile HAVING count(*) > 1) ORDER BY mobile`,
      )
      .iterate(),
    found,
    (phone) => found.crowdedPhones.add(phone),
  );

const compareNamesakes = (db: Connection, found: Found): Crowd =>
  compareGroups(
    'name',
    namesakesOf(
      db.raw
        .prepare<[], Grouped & { readonly name: string }>(
          `SELECT id, identity_card AS card, full_name AS name, cooperative_id || ' ' || date_of_birth AS key
           FROM main.members WHERE date_of_birth IS NOT NULL AND status <> '${ERASED_STATUS}'
           ORDER BY cooperative_id, date_of_birth`,
        )
        .iterate(),
    ),
    found,
  );

/** Of those who were born on one day, the ones with one name after another. */
function* namesakesOf(rows: Iterable<Grouped & { readonly name: string }>): Generator<Grouped> {
  for (const born of groupsOf(rows)) {
    const named = born.map(({ id, card, key, name }) => ({ id, card, key: `${key} ${nameKey(name)}` }));
    yield* named.sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)));
  }
}

/** Who of the two would be merged into the other. */
function describePair(db: Connection, { one, other, score, reasons }: Pair): LikelyDuplicate {
  const [into, from] = [one, other]
    .map(({ id }) => db.row<Described>(DESCRIBED, { id }) as Described)
    .sort(
      (a, b) =>
        b.active - a.active || b.entries - a.entries || a.registeredAt - b.registeredAt || a.id - b.id,
    );
  return { score, reasons, from: toMember(from as Described), into: toMember(into as Described) };
}

interface Described extends FoundMember {
  readonly active: number;
  readonly entries: number;
  readonly registeredAt: number;
}

const DESCRIBED = `SELECT m.id, c.code AS cooperativeCode, m.member_code AS memberCode,
    m.full_name AS fullName, m.status = 'active' AS active, m.registration_date AS registeredAt,
    (SELECT count(*) FROM main.production_entries WHERE member_id = m.id)
      + (SELECT count(*) FROM main.loans WHERE member_id = m.id)
      + (SELECT count(*) FROM main.savings_accounts a CROSS JOIN main.savings_transactions t
         ON t.account_id = a.id WHERE a.member_id = m.id) AS entries
  FROM main.members m CROSS JOIN main.cooperatives c ON c.id = m.cooperative_id WHERE m.id = @id`;

const toMember = ({ id, cooperativeCode, memberCode, fullName }: Described): FoundMember => ({
  ...{ id, cooperativeCode, memberCode, fullName },
});
