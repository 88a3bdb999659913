/** Comparing only those who share something finds each pair that comparing all members finds. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { CROWD } from '../../../src/import/checks/compare-people.ts';
import { findDuplicates } from '../../../src/people/find-duplicates.ts';
import { judgePair, type Registered } from '../../../src/people/likeness.ts';
import { nowSeconds, systemClock } from '../../../src/runtime/scheduler.ts';
import { temporaryFolder } from '../../support/app.ts';
import { quickOrLong } from '../../support/quick-or-long.ts';
import { type Connection, openFile, openStore } from '../../support/sqlite.ts';

type Member = Registered & { readonly id: number };

/** Few values of each, so that much is shared; the last phone is that of an office. */
const NAMES = [
  'Keza Aline',
  'ALINE Kezá',
  'Keza A.',
  'Keza Alline Marie',
  'Mugabo Jean',
  'J. Mugabo',
  'Keza',
];
const CARD = '1198589000123042';
const OFFICE = '+250780000003';
const slip = fc.record({ place: fc.nat(15), digit: fc.nat(9), swaps: fc.boolean() });
const member = fc.record({
  slips: fc.array(slip, { maxLength: 2 }),
  fullName: fc.constantFrom(...NAMES),
  gender: fc.constantFrom(null, 'MALE', 'FEMALE'),
  dateOfBirth: fc.constantFrom(null, '1985-01-02', '1985-01-03', '1990-12-31'),
  mobile: fc.constantFrom(null, '+250780000001', '+250780000002', OFFICE, OFFICE, OFFICE),
  cooperativeId: fc.integer({ min: 1, max: 3 }),
});

const few = fc.array(member, { minLength: 2, maxLength: 30 });
const many = fc.array(member, { minLength: 60, maxLength: 80 });

function slipped(
  card: string,
  { place, digit, swaps }: { place: number; digit: number; swaps: boolean },
): string {
  const digits = [...card];
  if (!swaps) digits[place] = String(digit);
  else if (place < 15) [digits[place], digits[place + 1]] = [digits[place + 1] ?? '', digits[place] ?? ''];
  return digits.join('');
}

function fill(db: Connection, members: readonly Member[]): void {
  db.exec('DELETE FROM members');
  const insert =
    db.raw.prepare(`INSERT INTO members (id, cooperative_id, identity_card, member_code, full_name,
      gender, date_of_birth, mobile, role, status, registration_date, created_at, updated_at)
    VALUES (@id, @cooperativeId, @identityCard, 'M-' || @id, @fullName, @gender, @dateOfBirth, @mobile,
      'MEMBER', 'active', 0, 0, 0)`);
  for (const each of members) insert.run(each);
}

/** Of the crowds, those who have their phone in common with more people than a family has. */
function compareAll(members: readonly Member[]): string[] {
  const people = (phone: string | null) =>
    new Set(members.filter(({ mobile }) => mobile === phone).map(({ identityCard }) => identityCard)).size;
  const known = members.map((each) => (people(each.mobile) > CROWD ? { ...each, mobile: null } : each));
  const best = new Map<string, { score: number; ids: string }>();
  for (const one of known) {
    for (const other of known.filter(({ id }) => id > one.id)) {
      const likeness = judgePair(one, other);
      const key = [one.identityCard, other.identityCard].sort().join();
      if (likeness !== undefined && likeness.score > (best.get(key)?.score ?? 0))
        best.set(key, { score: likeness.score, ids: `${one.id} ${other.id}` });
    }
  }
  return [...best.values()].map(({ score, ids }) => `${score}: ${ids}`).sort();
}

test('each pair is found that comparing all members finds, and no other', (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  const store = openStore(file);
  const db = openFile(file);
  context.after(async () => {
    db.close();
    await store.close();
  });
  db.exec(`INSERT INTO cooperatives (id, code, name, status, created_at, updated_at)
    VALUES (1, 'A', 'A', 'active', 0, 0), (2, 'B', 'B', 'active', 0, 0), (3, 'C', 'C', 'active', 0, 0)`);
  let [pairs, crowds] = [0, 0];
  const property = fc.property(fc.oneof(few, many), (drawn) => {
    const seen = new Set<string>();
    const members = drawn.flatMap(({ slips, ...rest }, i): Member[] => {
      const identityCard = slips.reduce(slipped, CARD);
      const key = `${identityCard} ${rest.cooperativeId}`;
      if (seen.has(key)) return [];
      seen.add(key);
      return [{ ...rest, identityCard, id: i + 1 }];
    });
    fill(db, members);
    const found = findDuplicates(db);
    const listed = found.pairs.map(
      ({ score, from, into }) => `${score}: ${[from.id, into.id].sort((a, b) => a - b).join(' ')}`,
    );
    assert.deepEqual(listed.sort(), compareAll(members));
    pairs += listed.length;
    crowds += found.crowds.length;
  });
  fc.assert(property, { numRuns: quickOrLong(40, 1_000), seed: quickOrLong(1, nowSeconds(systemClock)) });
  assert.ok(pairs > 100 && crowds > 0, `${pairs} pairs, ${crowds} crowds`);
});
