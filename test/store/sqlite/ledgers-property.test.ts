/**
 * Ledgers without references that come again after anything that changes what members and cooperatives are
 * called, or which of them an entry belongs to: they add nothing, or are stopped.
 */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { checkStorage } from '../../../src/check/check.ts';
import type { CheckedFile } from '../../../src/import/staging/apply-checked-file.ts';
import { openImportSession } from '../../../src/import/staging/import-session.ts';
import type { CorrectionOptions } from '../../../src/journal/operations.ts';
import { openJournal } from '../../../src/journal/undo.ts';
import { openRegistry, type RegistryStore } from '../../../src/open-registry.ts';
import { type CorrectionStore, openCorrections } from '../../../src/people/corrections/correction-store.ts';
import type { ImportKind } from '../../../src/registry/file-columns.ts';
import type { MemberValues } from '../../../src/registry/members.ts';
import type { Storage } from '../../../src/sqlite/storage.ts';
import { RegistryError } from '../../../src/values/errors.ts';
import { temporaryFolder } from '../../support/app.ts';
import { quickOrLong } from '../../support/quick-or-long.ts';
import { type Connection, openFile } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';
import {
  type Cells,
  check,
  faultsOf,
  LATER,
  NOW,
  nid,
  RECORD,
  SKIPPING,
} from '../conformance/import-rows.ts';

const KINDS = ['production', 'savings'] as const;
type EntryKind = (typeof KINDS)[number];
const OTHERS = /^This row was imported as a (?:delivery|transaction) of another member\./;

/** What a ledger says of an entry, beside whose it is: mostly the same, so that many are equal. */
const VALUES: { readonly [kind in EntryKind]: fc.Arbitrary<Cells> } = {
  production: fc.record({
    ...{ delivered_at: fc.constant(NOW - 86_400), kg: fc.constant(1_000) },
    product: fc.constantFrom('milk', null),
  }),
  savings: fc.record({
    ...{ kind: fc.constant('contribution'), amount: fc.constantFrom(100, 200) },
    transacted_at: fc.constant(NOW - 86_400),
  }),
};
const STORED: { readonly [kind in EntryKind]: string } = {
  production: `SELECT id, cooperative_id, member_id, NULL AS account_number, grams AS amount, product
    FROM production_entries ORDER BY id`,
  savings: `SELECT t.id, t.cooperative_id, a.member_id, a.account_number, t.amount_minor AS amount,
      NULL AS product
    FROM savings_transactions t JOIN savings_accounts a ON a.id = t.account_id ORDER BY t.id`,
};
interface Entry {
  readonly id: number;
  readonly cooperative_id: number;
  readonly member_id: number;
  readonly account_number: string | null;
  readonly amount: number;
  readonly product: string | null;
}
interface Member {
  readonly id: number;
  readonly cooperative_id: number;
  readonly cooperative_code: string;
  readonly member_code: string;
  readonly identity_card: string;
  readonly full_name: string;
}

/** How a ledger names the member. */
const NAMED = ['code', 'number', 'both'] as const;
type Named = (typeof NAMED)[number];
const called = ({ cooperative_code, member_code, identity_card }: Member, named: Named): Cells => ({
  cooperative_code,
  ...(named === 'number' ? {} : { member_code }),
  ...(named === 'code' ? {} : { identity_card }),
});

/** An entry that was imported without a reference. */
interface Item {
  readonly kind: EntryKind;
  readonly entryId: number;
  /** The row as it was then. */
  readonly said: Cells;
  readonly values: Cells;
}

/** A file that was imported. */
interface Imported {
  readonly kind: EntryKind;
  readonly rows: readonly Cells[];
  readonly sha256: string;
  readonly importId: number;
  readonly refused: number;
  /** The entries that it has created. */
  readonly items: readonly Item[];
}

const at = fc.nat({ max: 5 });
const code = fc.integer({ min: 1, max: 7 }).map((n) => `M-${n}`);
const number = fc.integer({ min: 1, max: 7 }).map(nid);
const named = fc.constantFrom(...NAMED);
const DELIVERY = fc.oneof(
  ...KINDS.map((kind) =>
    fc.record({ kind: fc.constant(kind), at, named, account: fc.nat({ max: 1 }), values: VALUES[kind] }),
  ),
);
const STEP = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('deliver' as const),
      rows: fc.array(DELIVERY, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('again' as const),
      named: fc.array(named, { minLength: 1, maxLength: 5 }),
    }),
  },
  fc.record({ do: fc.constant('code' as const), at, code }),
  fc.record({
    do: fc.constant('swap' as const),
    at,
    with: at,
    what: fc.constantFrom('memberCode', 'identityCard'),
  }),
  fc.record({ do: fc.constant('number' as const), at, number }),
  fc.record({
    do: fc.constant('cooperative' as const),
    at,
    code: fc.constantFrom('A-1', 'B-2', 'D-4', 'E-5'),
  }),
  fc.record({ do: fc.constant('list' as const), at, by: fc.constantFrom('code', 'number'), code, number }),
  fc.record({ do: fc.constant('replace' as const), at, number }),
  fc.record({ do: fc.constant('merge' as const), at, into: at }),
  fc.record({ do: fc.constant('move' as const), at, to: at }),
  fc.record({ do: fc.constant('cooperatives' as const), at, into: at }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('undo' as const), at }) },
);
const FIRST = fc.array(DELIVERY, { minLength: 6, maxLength: 12 });
type Delivery = typeof DELIVERY extends fc.Arbitrary<infer T> ? T : never;
type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never;

const WHY: CorrectionOptions = { reason: 'test', systemUser: 'operator', nowSeconds: LATER };

class World {
  readonly storage: Storage;
  readonly db: Connection;
  readonly registry: RegistryStore;
  readonly corrections: CorrectionStore;
  items: Item[] = [];
  readonly files: Imported[] = [];

  constructor(context: TestContext) {
    const file = join(temporaryFolder(context), 'registry.db');
    this.storage = storageAt(file);
    this.registry = openRegistry(this.storage);
    this.corrections = openCorrections(this.storage);
    this.db = openFile(file);
  }

  async close(): Promise<void> {
    this.db.close();
    await this.corrections.close();
    await this.registry.close();
  }

  all<Row>(sql: string): Row[] {
    return this.db.raw.prepare(sql).all() as Row[];
  }

  members = (): Member[] =>
    this.all(`SELECT m.*, c.code AS cooperative_code FROM members m
      JOIN cooperatives c ON c.id = m.cooperative_id ORDER BY m.id`);

  entries = (kind: EntryKind): ReadonlyMap<number, Entry> =>
    new Map(this.all<Entry>(STORED[kind]).map((entry) => [entry.id, entry]));

  /** Members of each entry, and what it is about. */
  everything = (): unknown => KINDS.map((kind) => [...this.entries(kind)]);

  async load(
    kind: ImportKind,
    rows: readonly Cells[],
    use: (checked: CheckedFile) => Promise<void>,
    sha256?: string,
  ) {
    const session = openImportSession(this.storage);
    try {
      await use(await check(session, kind, rows, { ...SKIPPING, sha256 }));
    } finally {
      await session.close();
    }
  }

  apply(kind: ImportKind, rows: readonly Cells[]): Promise<void> {
    return this.load(kind, rows, async (checked) => {
      if (!checked.isRefused) await checked.apply(LATER, RECORD);
    });
  }

  /** The ledger of all items, with members and accounts as they are called now. */
  ledger(kind: EntryKind, names: readonly Named[]): { rows: Cells[]; items: Item[] } {
    const entries = this.entries(kind);
    const members = new Map(this.members().map((member) => [member.id, member]));
    this.items = this.items.filter((item) => item.kind !== kind || entries.has(item.entryId));
    const items = this.items.filter((item) => item.kind === kind);
    const rows = items.map(({ entryId, values }, i): Cells => {
      const { member_id, account_number } = entries.get(entryId) as Entry;
      const name = names[i % names.length] as Named;
      const account = account_number === null ? {} : { account_number };
      return { ...called(members.get(member_id) as Member, name), ...account, ...values };
    });
    return { rows, items };
  }

  /** The ledger as it is now, with further rows: as many are new. */
  async deliver(rows: readonly Delivery[]): Promise<void> {
    const members = this.members();
    for (const kind of KINDS) {
      const before = this.ledger(kind, ['code']);
      const added = rows
        .filter((row) => row.kind === kind)
        .map(({ at: place, account, named: name, values }) => {
          const member = members[place % members.length] as Member;
          const account_number = kind === 'savings' ? `S-${member.id}-${account}` : null;
          const said = { ...called(member, name), ...(account_number === null ? {} : { account_number }) };
          return { memberId: member.id, account_number, said: { ...said, ...values }, values };
        });
      if (added.length === 0) continue;
      const file = [...before.rows, ...added.map(({ said }) => said)];
      await this.load(kind, file, async (checked) => {
        // An account may be another's by now, and a row may have been imported as somebody else's.
        const refused = new Set((await faultsOf(checked)).map(({ line }) => line - 2));
        assert.ok([...refused].every((place) => place >= before.rows.length));
        assert.ok(!checked.isRefused);
        const accepted = added.filter((_, i) => !refused.has(before.rows.length + i));
        assert.deepEqual(
          [checked.changes.created, checked.changes.changed],
          [accepted.length, 0],
          JSON.stringify([before.rows, added]),
        );
        const known = this.entries(kind);
        const sha256 = hash('sha256', JSON.stringify(file));
        const { importId } = await checked.apply(LATER, { ...RECORD, sha256 });
        const created = [...this.entries(kind).values()].filter(({ id }) => !known.has(id));
        const items: Item[] = [];
        this.files.push({ kind, rows: file, sha256, importId, refused: refused.size, items });
        for (const { memberId, account_number, said, values } of accepted) {
          // Which of equal rows is the new one does not matter.
          const place = created.findIndex(
            (entry) =>
              entry.member_id === memberId &&
              entry.account_number === account_number &&
              entry.amount === (values.kg ?? values.amount) &&
              entry.product === (values.product ?? null),
          );
          const [entry] = created.splice(place, 1);
          assert.ok(place >= 0 && entry !== undefined, JSON.stringify([before.rows, added]));
          items.push({ kind, entryId: entry.id, said, values });
        }
        this.items.push(...items);
      });
    }
  }

  /** The same ledgers, as somebody writes them now who knows the names, and the very same files. */
  async again(names: readonly Named[]): Promise<void> {
    const before = this.everything();
    for (const kind of KINDS) {
      const { rows } = this.ledger(kind, names);
      if (rows.length === 0) continue;
      await this.load(kind, rows, async (checked) => {
        assert.deepEqual(await faultsOf(checked), []);
        assert.ok(!checked.isRefused);
        const { created, changed, unchanged } = checked.changes;
        assert.deepEqual([created, changed, unchanged], [0, 0, rows.length], JSON.stringify(rows));
        await checked.apply(LATER, RECORD);
      });
    }
    await this.filesAgain();
    assert.deepEqual(this.everything(), before);
  }

  /** What was refused at first may be added since, and nothing else but after a warning. */
  async filesAgain(): Promise<void> {
    const standing = new Set(
      this.all<{ id: number }>('SELECT id FROM operations WHERE undone_at IS NULL').map(({ id }) => id),
    );
    for (const { kind, rows, sha256, importId, refused, items } of this.files) {
      if (!standing.has(importId)) continue;
      await this.load(
        kind,
        rows,
        async (checked) => {
          const created = checked.isRefused ? 0 : checked.changes.created;
          assert.ok(created <= refused || checked.warnings.some(({ stops }) => stops), JSON.stringify(rows));
          for (const { column, message } of await faultsOf(checked))
            if (column === 'reference') assert.match(message, OTHERS);
          // Entries that other files have created may be known by other names only.
          if (items.length + refused === rows.length)
            assert.ok(created <= refused + this.countElsewhere(kind, items), JSON.stringify(items));
        },
        sha256,
      );
    }
  }

  /** Where the code is that of another cooperative now, the row is one of this other cooperative. */
  countElsewhere(kind: EntryKind, items: readonly Item[]): number {
    const entries = this.entries(kind);
    const cooperatives = new Map(
      this.all<{ id: number; code: string }>('SELECT id, code FROM cooperatives').map((c) => [c.code, c.id]),
    );
    return items.filter(
      ({ entryId, said }) =>
        cooperatives.get(String(said.cooperative_code)) !== entries.get(entryId)?.cooperative_id,
    ).length;
  }

  async write(id: number, change: { memberCode?: string; identityCard?: string }): Promise<void> {
    const decide = (stored: MemberValues) => ({ ...stored, ...change });
    await unlessRefused(() => this.registry.members.update(id, decide, LATER, 'key:1'));
  }

  async take(step: Step): Promise<void> {
    const members = this.members();
    const cooperatives = this.all<{ id: number; code: string }>('SELECT id, code FROM cooperatives');
    const pick = <T>(from: readonly T[], place: number): T => from[place % from.length] as T;
    const { corrections } = this;
    if (step.do === 'deliver') return this.deliver(step.rows);
    if (step.do === 'again') return this.again(step.named);
    const member = pick(members, step.at);
    if (step.do === 'code') return this.write(member.id, { memberCode: step.code });
    if (step.do === 'number') return this.write(member.id, { identityCard: step.number });
    if (step.do === 'swap') {
      const other = pick(members, step.with);
      const of = ({ member_code, identity_card }: Member) =>
        step.what === 'memberCode' ? { memberCode: member_code } : { identityCard: identity_card };
      await this.write(
        member.id,
        step.what === 'memberCode' ? { memberCode: 'X' } : { identityCard: nid(99) },
      );
      await this.write(other.id, of(member));
      return this.write(member.id, of(other));
    }
    if (step.do === 'cooperative')
      return unlessRefused(() =>
        this.registry.cooperatives.update(
          pick(cooperatives, step.at).id,
          (stored) => ({ ...stored, code: step.code }),
          LATER,
          'key:1',
        ),
      );
    if (step.do === 'list') {
      const { cooperative_code, identity_card, member_code, full_name } = member;
      const person = { cooperative_code, identity_card, member_code, full_name };
      const changed = step.by === 'code' ? { identity_card: step.number } : { member_code: step.code };
      return this.apply('members', [{ ...person, ...changed }]);
    }
    if (step.do === 'replace')
      return void (await corrections.run(
        'replaceIdentityCard',
        { old: member.identity_card, current: step.number },
        {
          ...WHY,
          samePerson: true,
        },
      ));
    if (step.do === 'merge')
      return void (await corrections.run(
        'mergeMembers',
        { fromId: member.id, intoId: pick(members, step.into).id },
        WHY,
      ));
    if (step.do === 'move')
      return void (await corrections.run(
        'moveMember',
        { memberId: member.id, code: pick(cooperatives, step.to).code },
        WHY,
      ));
    if (step.do === 'cooperatives') {
      const [from, into] = [pick(cooperatives, step.at), pick(cooperatives, step.into)];
      return void (await corrections.run(
        'mergeCooperatives',
        { fromCode: from.code, intoCode: into.code },
        WHY,
      ));
    }
    const ids = this.all<{ id: number }>(
      'SELECT id FROM operations WHERE undone_at IS NULL AND id > 2 ORDER BY id DESC',
    );
    if (ids.length === 0) return;
    const log = openJournal(this.storage);
    await log.undo(pick(ids, step.at).id, 1, { systemUser: 'tester', nowSeconds: LATER });
    await log.close();
  }
}

async function unlessRefused(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error;
  }
}

const START: readonly Cells[] = [1, 2, 3, 4, 5, 6].map((n) => ({
  ...{ cooperative_code: n < 5 ? 'A-1' : 'B-2', identity_card: nid(n === 6 ? 1 : n) },
  ...{ member_code: `M-${n}`, full_name: `Person ${n === 6 ? 1 : n}` },
}));

/** `LEDGER_RUNS` and `LEDGER_SEED` try others. */
const SEED = process.env.LEDGER_SEED === undefined ? {} : { seed: Number(process.env.LEDGER_SEED) };

test('a ledger without references adds nothing when it comes again, whatever happened in between', {
  timeout: 300_000,
}, async (context) => {
  const seen: { [step: string]: number } = {};
  await fc.assert(
    fc.asyncProperty(FIRST, fc.array(STEP, { minLength: 3, maxLength: 12 }), async (first, steps) => {
      const world = new World(context);
      try {
        await world.apply(
          'cooperatives',
          ['A-1', 'B-2', 'C-3'].map((each) => ({ code: each, name: each })),
        );
        await world.apply('members', START);
        await world.deliver(first);
        for (const step of steps) {
          await world.take(step);
          seen[step.do] = (seen[step.do] ?? 0) + 1;
        }
        for (const name of NAMED) await world.again([name]);
        const faults = (await checkStorage(world.storage)).filter(({ fault }) => fault !== null);
        assert.deepEqual(faults, []);
      } finally {
        await world.close();
      }
    }),
    // Without a number of runs always the same ones.
    process.env.LEDGER_RUNS === undefined
      ? { numRuns: quickOrLong(4, 15), seed: 3 }
      : { numRuns: Number(process.env.LEDGER_RUNS), ...SEED },
  );
  if (process.env.LEDGER_RUNS !== undefined) console.log(seen);
});
