/** The corrections of a random history, and what people must have before and after each. */
import assert from 'node:assert/strict';
import type { CorrectionOptions } from '../../../src/journal/operations.ts';
import type { CorrectionResult } from '../../../src/people/correction-result.ts';
import type { CorrectionStore } from '../../../src/people/corrections/correction-store.ts';
import { DAY_SECONDS } from '../../../src/values/date-time.ts';
import { NOW, nid } from '../conformance/import-rows.ts';
import { type Row, type Rows, rowsOf, writtenBetween } from './rows.ts';
import { CODES, type Correction, memberCode } from './steps.ts';

/** What each member has, in grams and hundredths: deliveries, loans, payments, savings. */
function totalsOf(rows: Rows, keyOf: (member: Row) => unknown): { [key: string]: number[] } {
  const totals: { [key: string]: number[] } = {};
  const add = (member: unknown, place: number, amount: unknown) => {
    const key = String(keyOf(rows.get(`member ${member}`) as Row));
    totals[key] ??= [0, 0, 0, 0];
    (totals[key] as number[])[place] = ((totals[key] as number[])[place] as number) + (amount as number);
  };
  const ownerOf = (key: string) => rows.get(key)?.member_id;
  for (const row of rowsOf(rows, 'delivery')) add(row.member_id, 0, row.grams);
  for (const row of rowsOf(rows, 'loan')) add(row.member_id, 1, row.amount_minor);
  for (const row of rowsOf(rows, 'payment')) add(ownerOf(`loan ${row.loan_id}`), 2, row.amount_minor);
  for (const row of rowsOf(rows, 'transaction'))
    add(ownerOf(`account ${row.account_id}`), 3, row.amount_minor);
  return totals;
}

export interface Corrected {
  readonly result: CorrectionResult;
  /** @throws AssertionError where a person has more or less than before */
  check(before: Rows, after: Rows): void;
}

const sameByNumber = (before: Rows, after: Rows): void =>
  assert.deepEqual(
    totalsOf(after, ({ identity_card }) => identity_card),
    totalsOf(before, ({ identity_card }) => identity_card),
  );
const sameById =
  (renamed: (id: unknown) => unknown = (id) => id) =>
  (before: Rows, after: Rows): void =>
    assert.deepEqual(
      totalsOf(after, ({ id }) => id),
      totalsOf(before, ({ id }) => renamed(id)),
    );

/**
 * @param rows as they are, of which a correction means some by their place
 * @param formers national IDs that lead to others
 */
export async function correct(
  store: CorrectionStore,
  rows: Rows,
  formers: readonly string[],
  correction: Correction,
  options: CorrectionOptions,
): Promise<Corrected> {
  const members = rowsOf(rows, 'member').map(({ id }) => id as number);
  const memberAt = (at: number): number => members[at % Math.max(members.length, 1)] ?? 1;
  const codeAt = (at: number): string => CODES[at % CODES.length] as string;
  if (correction.kind === 'remove') return removeEntries(store, rows, correction, options);
  const { kind, from, to } = correction;
  const corrected = (result: CorrectionResult, compare: Corrected['check']) => ({ result, check: compare });
  if (kind === 'replace') {
    return replaceNumber(store, rows, correction, options);
  }
  if (kind === 'merge') {
    const [one, into] = [memberAt(from), memberAt(to)];
    const result = await store.run('mergeMembers', { fromId: one, intoId: into }, options);
    return corrected(
      result,
      sameById((id) => (id === one ? into : id)),
    );
  }
  if (kind === 'release')
    return corrected(
      store.run(
        'releaseIdentityCard',
        { former: formers[from % Math.max(formers.length, 1)] ?? nid(from) },
        options,
      ),
      sameByNumber,
    );
  if (kind === 'death')
    return corrected(
      store.run('recordDeath', { nid: nid(from), on: { date: '2025-06-01', startsAt: 0 } }, options),
      sameByNumber,
    );
  if (kind === 'erase') return corrected(store.run('erasePerson', { nid: nid(from) }, options), sameById());
  if (kind === 'transfer') return transfer(store, memberAt(from), to, options);
  if (kind === 'move')
    return corrected(
      store.run('moveMember', { memberId: memberAt(from), code: codeAt(to) }, options),
      sameByNumber,
    );
  return corrected(
    store.run('mergeCooperatives', { fromCode: codeAt(from), intoCode: codeAt(to) }, options),
    sameByNumber,
  );
}

async function replaceNumber(
  store: CorrectionStore,
  rows: Rows,
  { from, to, releases, samePerson, only }: Extract<Correction, { kind: 'replace' }>,
  options: CorrectionOptions,
): Promise<Corrected> {
  const [old, current] = [nid(from), nid(to)];
  const holders = rowsOf(rows, 'member').filter(({ identity_card }) => identity_card === old);
  const memberId =
    only === undefined ? undefined : (holders[only % holders.length]?.id as number | undefined);
  const agreed = { ...options, releases, samePerson };
  const result = store.run('replaceIdentityCard', { old, current, memberId }, agreed);
  return {
    result,
    check(before, after) {
      const numberOf = (id: number | undefined) => before.get(`member ${id}`)?.identity_card;
      // Of the same person who had the number before, the one that they have now.
      const given = samePerson && result.compared ? numberOf(result.compared.memberIds[1][0]) : current;
      const isMeant = ({ id, identity_card }: Row) =>
        identity_card === old && (memberId === undefined || id === memberId);
      assert.deepEqual(
        totalsOf(after, ({ identity_card }) => identity_card),
        totalsOf(before, (member) => (isMeant(member) ? given : member.identity_card)),
      );
      const numbers = new Set(rowsOf(before, 'member').map(({ identity_card }) => identity_card));
      assert.ok(samePerson || !numbers.has(current), 'Two people became one, and nobody said that they are.');
    },
  };
}

/** One membership more, and nobody has more or less. @param to picks the cooperative and the code there */
async function transfer(
  store: CorrectionStore,
  memberId: number,
  to: number,
  options: CorrectionOptions,
): Promise<Corrected> {
  const startsAt = Math.floor(NOW / DAY_SECONDS) * DAY_SECONDS;
  const on = new Date(startsAt * 1000).toISOString().slice(0, 10);
  const [code, own] = [CODES[to % CODES.length] as string, memberCode(1 + (to % 7))];
  const result = store.run(
    'transferMember',
    { memberId, to: code, memberCode: own, on: { date: on, startsAt } },
    options,
  );
  return {
    result,
    check(before, after) {
      sameById()(before, after);
      const key = `member ${memberId}`;
      const [was, begun] = [before.get(key) as Row, rowsOf(after, 'member').at(-1) as Row];
      assert.deepEqual(after.get(key), { ...was, status: 'withdrawn' });
      assert.deepEqual(writtenBetween(before, after), {
        ...{ created: [`member ${begun.id}`], changed: [key], removed: [] },
      });
      const at = options.nowSeconds;
      assert.deepEqual(begun, {
        ...{ ...was, id: begun.id, member_code: own, role: 'MEMBER', status: 'active', date_of_death: null },
        ...{ cooperative_id: begun.cooperative_id, registration_date: startsAt, created_at: at },
      });
      assert.equal(after.get(`cooperative ${begun.cooperative_id}`)?.code, code);
    },
  };
}

const ENTITIES = { production: 'delivery', savings: 'transaction', loans: 'loan' } as const;

async function removeEntries(
  store: CorrectionStore,
  rows: Rows,
  { entries, at, isAll }: Extract<Correction, { kind: 'remove' }>,
  options: CorrectionOptions,
): Promise<Corrected> {
  const all = rowsOf(rows, ENTITIES[entries]);
  const chosen = all[at % Math.max(all.length, 1)];
  const memberOf = (row: Row | undefined) =>
    row?.member_id ?? rows.get(`account ${row?.account_id}`)?.member_id;
  const memberId = (memberOf(chosen) ?? 1) as number;
  const cooperativeCode = String(rows.get(`cooperative ${chosen?.cooperative_id}`)?.code ?? 'A-1');
  const reference = String(chosen?.reference ?? 'none');
  const result = await store.removeEntries(
    entries,
    isAll ? { memberId } : { cooperativeCode, reference },
    options,
  );
  const isRemoved = (row: Row) => (isAll ? memberOf(row) === memberId : row.id === chosen?.id);
  return {
    result,
    check(before, after) {
      const removed = [...before.keys()].filter((key) => !after.has(key)).sort();
      const meant = all.filter(isRemoved).map(({ id }) => `${ENTITIES[entries]} ${id}`);
      assert.deepEqual(
        removed.filter((key) => !key.startsWith('account ')),
        meant.sort(),
      );
    },
  };
}
