/** The read model: after any write, import or clock step a lookup equals a computation from scratch. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { countOutOfDate } from '../../../src/check/check.ts';
import { LOAN_STATUSES } from '../../../src/registry/loans.ts';
import type { Member } from '../../../src/registry/members.ts';
import { serializeConsolidated } from '../../../src/registry/routes/lookup.ts';
import { consolidate } from '../../../src/registry/stores/consolidate.ts';
import { openFinancials, refreshOutOfDate } from '../../../src/registry/stores/read-model.ts';
import { formatDateTime, KIGALI } from '../../../src/values/date-time.ts';
import { startApp, type TestApp, temporaryFolder } from '../../support/app.ts';
import { command } from '../../support/command.ts';
import { createEmptyRegistry } from '../../support/empty-registry.ts';
import { COOPERATIVES, member, members, nid } from '../../support/importing.ts';
import { quickOrLong } from '../../support/quick-or-long.ts';
import { FORMAT, openFile, openStore } from '../../support/sqlite.ts';

const DAY = 86_400;
const PEOPLE = [1, 2, 3];

interface Place {
  readonly app: TestApp;
  load(kind: string, rows: readonly string[]): Promise<void>;
  command(...args: string[]): Promise<{ status: number; out: string }>;
  /** Compares every person's responses with those computed only from the tables. */
  compare(): Promise<void>;
  /** SQL by hand, on a connection of its own. */
  sql(text: string): unknown[];
  close(): Promise<void>;
}

const HEADERS: { readonly [kind: string]: string } = {
  production: 'cooperative_code,member_code,reference,delivered_at,kg',
  loans: 'cooperative_code,member_code,reference,amount,interest_rate,status,loan_start_date',
  payments: 'cooperative_code,loan_reference,reference,amount,method,paid_at,status',
  savings: 'cooperative_code,member_code,account_number,reference,kind,amount,transacted_at',
};

async function openPlace(context: TestContext, people = PEOPLE): Promise<Place> {
  const folder = temporaryFolder(context);
  const app = await startApp(context, { folder });
  const basicKey = app.issue(['members:read']).key;
  const databaseFile = join(folder, 'registry.db');
  const db = openFile(databaseFile, { waitMs: 1_000 });
  const store = openStore(databaseFile);
  const financials = openFinancials(db, KIGALI);

  async function execute(...args: string[]) {
    const { status, out, err } = await command(args, { REGISTRY_DB: databaseFile }, app.clock);
    return { status, out: out + err };
  }

  async function loadFile(kind: string, content: string): Promise<void> {
    const file = join(folder, `${kind}.csv`);
    writeFileSync(file, content);
    const { status, out } = await execute('import', kind, file);
    assert.equal(status, 0, out);
  }

  function fromScratch(card: string, at: number | null): string | undefined {
    const ids = db.raw
      .prepare(
        `SELECT id FROM members WHERE identity_card = ? AND status = 'active'
         ORDER BY registration_date DESC, id DESC`,
      )
      .pluck()
      .all(card) as number[];
    const memberOf = (id: number): Member => store.members.find(id) as Member;
    const memberships = ids
      .map(memberOf)
      .map(({ cooperativeCode: code, cooperativeName: name, ...member }) => ({
        ...member,
        cooperative: { id: member.cooperativeId, code, name },
        financials:
          at === null
            ? null
            : {
                production: financials.productionOf(member.id, at),
                loanHistory: financials.loanHistoryOf(member.id),
                savingsSummary: financials.savingsOf(member.id),
              },
      }));
    const person = consolidate(memberships);
    return person && serializeConsolidated(person, KIGALI);
  }

  await loadFile('cooperatives', COOPERATIVES);
  await loadFile('members', members(...people.map((n) => member(n)), member(1, 'B-2')));
  return {
    app,
    command: execute,
    load: (kind, rows) => loadFile(kind, `${[HEADERS[kind], ...rows].join('\n')}\n`),
    sql: (text) => (/^SELECT/.test(text) ? db.raw.prepare(text).all() : [db.exec(text)]),
    async compare() {
      const at = Math.floor(app.clock.now() / 1000);
      for (const n of people) {
        const path = `/members/${nid(n)}/`;
        for (const [key, moment] of [
          [app.fullKey, at],
          [basicKey, null],
        ] as const) {
          const expected = fromScratch(nid(n), moment);
          const response = await app.send(path, { key });
          assert.equal(response.text, expected ?? '{"detail":"Not found."}');
        }
      }
    },
    async close() {
      db.close();
      await store.close();
    },
  };
}

type Step =
  | {
      readonly kind: 'production';
      readonly person: number;
      readonly ages: readonly number[];
      readonly kg: number;
    }
  | {
      readonly kind: 'loans';
      readonly person: number;
      readonly reference: number;
      readonly status: string;
      readonly startAge: number;
    }
  | {
      readonly kind: 'payments';
      readonly person: number;
      readonly reference: number;
      readonly payment: number;
      readonly isVoid: boolean;
    }
  | {
      readonly kind: 'savings';
      readonly person: number;
      readonly account: number;
      readonly amount: number;
      readonly isWithdrawal: boolean;
    }
  | { readonly kind: 'member'; readonly person: number; readonly status: string }
  | { readonly kind: 'rename'; readonly name: string }
  | { readonly kind: 'clock'; readonly seconds: number }
  | { readonly kind: 'by hand'; readonly sql: string };

const person = fc.constantFrom(...PEOPLE);
// Seconds before now, most of them around an edge of the window or of a day.
const age = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.integer({ min: -2, max: 2 }).map((d) => 365 * DAY + d),
  fc.integer({ min: 0, max: 400 * DAY }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('production' as const),
    person,
    // Sometimes more than are listed as expiring.
    ages: fc.oneof(
      fc.array(age, { minLength: 1, maxLength: 5 }),
      fc.array(age, { minLength: 66, maxLength: 90 }),
    ),
    kg: fc.integer({ min: 1, max: 9_999_999 }),
  }),
  fc.record({
    kind: fc.constant('loans' as const),
    person,
    reference: fc.integer({ min: 1, max: 14 }),
    status: fc.constantFrom(...LOAN_STATUSES),
    startAge: fc.integer({ min: -DAY, max: DAY }),
  }),
  fc.record({
    kind: fc.constant('payments' as const),
    person,
    reference: fc.integer({ min: 1, max: 14 }),
    payment: fc.integer({ min: 1, max: 3 }),
    isVoid: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('savings' as const),
    person,
    account: fc.integer({ min: 1, max: 2 }),
    amount: fc.constantFrom(1, 99, 999_999_999_999),
    isWithdrawal: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('member' as const),
    person,
    status: fc.constantFrom('active', 'active', 'suspended'),
  }),
  fc.record({
    kind: fc.constant('rename' as const),
    name: fc.constantFrom('Abahuje', 'Duterimbere', 'Twisungane'),
  }),
  fc.record({
    kind: fc.constant('clock' as const),
    seconds: fc.oneof(
      fc.constantFrom(-1, 1, -DAY, DAY),
      fc.integer({ min: -50 * DAY, max: 50 * DAY }),
      fc.integer({ min: 0, max: 420 * DAY }),
    ),
  }),
  fc.record({
    kind: fc.constant('by hand' as const),
    // The newest rows stay: the registry never gives an id twice.
    sql: fc.constantFrom(
      'UPDATE production_entries SET grams = grams + 1 WHERE id % 3 = 0',
      'DELETE FROM production_entries WHERE id % 5 = 0 AND id < (SELECT max(id) FROM production_entries)',
      'UPDATE production_entries SET delivered_at = delivered_at - 86400 WHERE id % 4 = 0',
      'UPDATE loans SET amount_minor = amount_minor + 1',
      'DELETE FROM savings_transactions WHERE id % 2 = 0 AND id < (SELECT max(id) FROM savings_transactions)',
      'UPDATE savings_accounts SET member_id = 2 WHERE id % 2 = 1',
    ),
  }),
);

let references = 0;

async function take(place: Place, done: Step): Promise<void> {
  const { app } = place;
  const iso = (seconds: number) => formatDateTime(seconds, KIGALI);
  const now = Math.floor(app.clock.now() / 1000);
  const memberCode = 'person' in done ? `M-${done.person}` : '';
  switch (done.kind) {
    case 'production':
      return place.load(
        'production',
        done.ages.map((each) => `A-1,${memberCode},P${++references},${iso(now - each)},${done.kg}`),
      );
    case 'loans': {
      const reference = `L${done.person}-${done.reference}`;
      const start = iso(now - done.startAge);
      return place.load('loans', [`A-1,${memberCode},${reference},5000,18,${done.status},${start}`]);
    }
    case 'payments': {
      const loan = `L${done.person}-${done.reference}`;
      const row = `A-1,${loan},Q${loan}-${done.payment},7,cash,2020-01-01,${done.isVoid ? 'void' : ''}`;
      return place.load('payments', [row]).catch((error: unknown) => {
        assert.match(String(error), /There is no loan|takes no payments/);
      });
    }
    case 'savings': {
      const account = `S${done.person}-${done.account}`;
      const kind = done.isWithdrawal ? 'withdrawal' : 'contribution';
      return place
        .load('savings', [`A-1,${memberCode},${account},T${++references},${kind},${done.amount},${iso(now)}`])
        .catch((error: unknown) => {
          // Once an account was given to somebody else by hand, its file is refused.
          assert.match(String(error), /belongs to another member/);
        });
    }
    case 'member': {
      const [row] = (await app.send(`/members/?identity_card=${nid(done.person)}`)).json.results;
      const path = `/members/${row.id}/`;
      const stored = (await app.send(path)).json;
      const put = await app.send(path, { method: 'PUT', body: { ...stored, status: done.status } });
      // Before the person joined, as the clock then says.
      if (put.status !== 200) assert.match(put.text, /in the future/);
      return;
    }
    case 'rename': {
      const stored = (await app.send('/cooperatives/1/')).json;
      assert.equal(
        (await app.send('/cooperatives/1/', { method: 'PUT', body: { ...stored, name: done.name } })).status,
        200,
      );
      return;
    }
    case 'clock':
      return app.clock.stepWall(done.seconds * 1000);
    case 'by hand':
      place.sql(done.sql);
  }
}

test('after any writes, imports and clock steps a lookup equals a computation from scratch', async (context) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      const place = await openPlace(context);
      try {
        for (const each of steps) {
          await take(place, each);
          await place.compare();
        }
        assert.equal((await place.command('summarize')).status, 0);
        await place.compare();
        const { status, out } = await place.command('check');
        assert.equal(status, 0, out);
      } finally {
        await place.close();
        await place.app.registry.close();
      }
    }),
    { numRuns: quickOrLong(4, 40) },
  );
});

test('an import that fills a table refreshes what it touched, and keeps indexes and triggers', async (context) => {
  const place = await openPlace(context);
  const schema = () =>
    place.sql("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name");
  const before = schema();
  const now = Math.floor(place.app.clock.now() / 1000);
  await place.load('production', ['A-1,M-1,FIRST,2025-06-01,5']);
  const rows = Array.from(
    { length: 10_001 },
    (_, i) => `A-1,M-${1 + (i % 2)},P${i},${formatDateTime(now - i * 3_000, KIGALI)},2.5`,
  );
  await place.load('production', rows);
  assert.deepEqual(schema(), before);
  assert.deepEqual(
    place.sql("SELECT id, production = '' AS missing FROM members WHERE production IS NOT NULL"),
    [
      { id: 1, missing: 0 },
      { id: 2, missing: 0 },
    ],
  );
  await place.compare();
  await place.close();
});

test('long after a refresh, and before it, a lookup equals one from scratch', async (context) => {
  const place = await openPlace(context, [1, 2]);
  const now = Math.floor(place.app.clock.now() / 1000);
  // More than are listed as expiring, three at a time; and a few.
  const ages = Array.from({ length: 120 }, (_, i) => Math.floor(i / 3) * 9 * DAY);
  await place.load('production', [
    ...ages.map((age, i) => `A-1,M-1,P${i},${formatDateTime(now - age, KIGALI)},${i + 1}.5`),
    ...[1, 100, 364].map((days) => `A-1,M-2,Q${days},${formatDateTime(now - days * DAY, KIGALI)},${days}`),
  ]);
  // Still to happen, as after a clock was set back; and none for the person who has many, to begin with.
  const add = (member: number, days: number) =>
    place.sql(`INSERT INTO production_entries (cooperative_id, member_id, reference, delivered_at, grams)
      VALUES (1, ${member}, 'F${member}-${days}', ${now + days * DAY}, ${days})`);
  for (const days of [10, 200]) add(2, days);
  const compareAround = async () => {
    assert.equal((await place.command('summarize')).status, 0);
    for (const days of [-40, -1, 0, 5, 10, 77, 167, 168, 176, 185, 199, 200, 290, 365, 375, 565, 566]) {
      for (const seconds of [-1, 0, 1]) {
        const at = now + days * DAY + seconds;
        place.app.clock.stepWall(at * 1000 - place.app.clock.now());
        await place.compare();
      }
    }
    place.app.clock.stepWall(now * 1000 - place.app.clock.now());
  };
  await compareAround();
  for (const days of [10, 200]) add(1, days);
  await compareAround();
  await place.close();
});

test('a lookup writes nothing, not even what it had to compute', async (context) => {
  const place = await openPlace(context);
  await place.load('production', ['A-1,M-1,P1,2025-06-01,5']);
  place.sql('UPDATE production_entries SET grams = 7000');
  const content = () => place.sql('SELECT production, loans, savings FROM members WHERE id = 1');
  const before = content();
  await place.compare();
  assert.deepEqual(content(), before);
  assert.deepEqual(before, [{ production: '', loans: null, savings: null }]);
  assert.equal(
    (await place.app.send(`/members/${nid(1)}/`)).json.memberships.at(-1).production_summary.total_kg,
    '7.000',
  );
  assert.match((await place.command('check')).out, /read model out of date +ok, 1/);
  assert.match((await place.command('summarize')).out, /^1 member/);
  assert.notDeepEqual(content(), before);
  assert.match((await place.command('check')).out, /read model out of date +ok, 0/);
  await place.close();
});

test('check finds a column that disagrees with its entries', async (context) => {
  const place = await openPlace(context);
  await place.load('production', ['A-1,M-1,P1,2025-06-01,5']);
  await place.load('loans', ['A-1,M-1,L1,5000,18,approved,2025-06-01']);
  await place.load('savings', ['A-1,M-1,S1,T1,contribution,100,2025-06-01']);
  assert.equal((await place.command('check')).status, 0);
  for (const [part, wrong, told] of [
    ['production', `'${FORMAT.version}[0,null,1,1,1];[null]'`, 'production of member 1'],
    ['loans', `'${FORMAT.version}[]'`, 'loans of member 1'],
    ['savings', `'${FORMAT.version}{}'`, 'savings of member 1'],
    ['loans', 'NULL', 'loans of member 1, which has entries, is missing'],
  ] as const) {
    const [{ kept }] = place.sql(`SELECT ${part} AS kept FROM members WHERE id = 1`) as [{ kept: string }];
    place.sql(`UPDATE members SET ${part} = ${wrong} WHERE id = 1`);
    const { status, out } = await place.command('check');
    assert.equal(status, 1);
    assert.match(out, new RegExp(`read model +wrong: ${told}`));
    place.sql(`UPDATE members SET ${part} = '${kept}' WHERE id = 1`);
  }
  await place.close();
});

test('a refresh renews members of another version in small transactions, between which others write', (context) => {
  const folder = temporaryFolder(context);
  const file = join(folder, 'registry.db');
  createEmptyRegistry(file);
  const db = openFile(file);
  const other = openFile(file);
  context.after(() => {
    db.close();
    other.close();
  });
  db.exec(`INSERT INTO cooperatives (id, code, name, status, created_at, updated_at)
      VALUES (1, 'A', 'A', 'active', 1, 1);
    WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 1000)
    INSERT INTO members (id, cooperative_id, identity_card, member_code, full_name, role, status,
      registration_date, created_at, updated_at, production, loans, savings)
    SELECT id, 1, format('%016d', id), id, 'N', 'MEMBER', 'active', 1, 1, 1,
      '0badc0de[]', CASE WHEN id % 2 = 0 THEN '' END, '0badc0de{}' FROM n`);
  const changes = () => db.raw.prepare('SELECT total_changes()').pluck().get() as number;
  let before = changes();
  let pauses = 0;
  const pause = () => {
    pauses++;
    assert.ok(changes() - before <= 100, `${changes() - before} rows in one transaction`);
    before = changes();
    // Without waiting for the lock.
    other.transaction.immediate(() => other.exec('UPDATE cooperatives SET updated_at = updated_at + 1'));
  };
  assert.equal(refreshOutOfDate(db, FORMAT, { nowSeconds: 1, pause, batch: 100 }), 1_000);
  assert.equal(pauses, 10);
  assert.equal(countOutOfDate(db, FORMAT), 0);
});
