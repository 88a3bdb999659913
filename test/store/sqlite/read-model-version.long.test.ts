/** What a release with other rules has stored in the read model is never served, and is not damage. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checkStorage } from '../../../src/check/check.ts';
import { refreshReadModel } from '../../../src/health/derived-data-commands.ts';
import { LOAN_STATUSES } from '../../../src/registry/loans.ts';
import { RULES_VERSION } from '../../../src/registry/stores/read-model.ts';
import { NOON, temporaryFolder } from '../../support/app.ts';
import { CHILD_LIMIT } from '../../support/command.ts';
import { openFile, openStore } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';

const NOW = NOON / 1000;
const DAY = 86_400;
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const SAMPLE = 'test/store/sqlite/read-model-sample.ts';

/** Another release: one rule of this one, changed, under the next version. */
interface Change {
  readonly rule: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const CHANGES: readonly Change[] = [
  {
    rule: 'the days of the window',
    file: 'registry/recent-deliveries.ts',
    from: 'PRODUCTION_WINDOW_DAYS = 365',
    to: 'PRODUCTION_WINDOW_DAYS = 364',
  },
  {
    rule: 'an edge of the window',
    file: 'registry/recent-deliveries.ts',
    from: 'const isExpired = expiresAt <= at;',
    to: 'const isExpired = expiresAt < at;',
  },
  {
    rule: 'how many loans are shown',
    file: 'registry/loans.ts',
    from: 'LOAN_HISTORY_LIMIT = 10',
    to: 'LOAN_HISTORY_LIMIT = 9',
  },
  {
    rule: 'the order of equal loans',
    file: 'registry/loans.ts',
    from: 'b.id - a.id',
    to: 'a.id - b.id',
  },
  {
    rule: 'the order of loans by their start',
    file: 'registry/loans.ts',
    from: 'startOf(b) - startOf(a)',
    to: 'startOf(a) - startOf(b)',
  },
  {
    rule: 'which loans were granted',
    file: 'registry/loans.ts',
    from: 'pending: 1,',
    to: 'pending: 0,',
  },
  {
    rule: 'what is summed',
    file: 'registry/stores/read-model.ts',
    from: "sumSavings.get(memberId, 'withdrawal')",
    to: "sumSavings.get(memberId, 'contribution')",
  },
  {
    rule: 'how an amount is shown',
    file: 'registry/stores/consolidate.ts',
    from: 'total_withdrawals_rwf: decimal(({ totalWithdrawalsMinor }) => totalWithdrawalsMinor, 2)',
    to: 'total_withdrawals_rwf: decimal(({ totalWithdrawalsMinor }) => totalWithdrawalsMinor, 3)',
  },
  {
    rule: 'how an instant is shown',
    file: 'values/date-time.ts',
    from: 'dayText(day)}T$',
    to: 'dayText(day)} $',
  },
];

const NEXT_VERSION: Change = {
  rule: 'the version',
  file: 'registry/stores/read-model.ts',
  from: `RULES_VERSION = '${RULES_VERSION}'`,
  to: "RULES_VERSION = 'XX'",
};

/**
 * Prints what a release shows of the person, what its check finds, both again after its refresh, and its
 * fingerprint.
 */
const PROBE = `
import { fingerprintReadModel } from '../test/store/sqlite/read-model-sample.ts';
import { openConfiguredStorage } from './terminal/settings.ts';
import { parseTimeZone } from './values/date-time.ts';
import { systemClock } from './runtime/scheduler.ts';
import { openRegistry } from './open-registry.ts';
import { checkStorage } from './check/check.ts';
import { refreshReadModel } from './health/derived-data-commands.ts';

const [location = '', offset = ''] = process.argv.slice(2);
const config = { storage: location, timeZone: parseTimeZone(offset) as never };
const storage = openConfiguredStorage(config, systemClock);
async function look() {
  const store = openRegistry(storage);
  const found = await store.members.listActiveMemberships('1198589000123042', ${NOW});
  await store.close();
  const { production, loanHistory, savingsSummary } = found[0]!.financials!;
  const { entriesCount, totalGrams, lastDeliveryAt } = production;
  return { entriesCount, totalGrams: String(totalGrams), lastDeliveryAt, loanHistory, savingsSummary };
}
const before = { shown: await look(), found: await checkStorage(storage) };
const refreshed = await refreshReadModel(storage, ${NOW});
const after = { shown: await look(), found: await checkStorage(storage) };
console.log(JSON.stringify({ before, refreshed, after, fingerprint: fingerprintReadModel() }));
`;

interface Seen {
  readonly shown: object;
  readonly found: readonly { check: string; fault: string | null; value?: string }[];
}

/** A registry of one person with entries that every rule concerns, refreshed by this release. */
async function fill(file: string): Promise<void> {
  await openStore(file).close();
  const db = openFile(file);
  db.exec(`INSERT INTO cooperatives (id, code, name, status, created_at, updated_at)
      VALUES (1, 'A', 'A', 'active', 1, 1);
    INSERT INTO members (id, cooperative_id, identity_card, member_code, full_name, role, status,
        registration_date, created_at, updated_at)
      VALUES (1, 1, '1198589000123042', 'M', 'N', 'MEMBER', 'active', 1, 1, 1);
    INSERT INTO savings_accounts VALUES (1, 1, 1, 'S');
    INSERT INTO savings_transactions (cooperative_id, account_id, reference, kind, amount_minor,
        transacted_at)
      VALUES (1, 1, 'T1', 'contribution', 500, ${NOW - 9}), (1, 1, 'T2', 'withdrawal', 200, ${NOW - 8});`);
  const deliver = db.raw.prepare(
    `INSERT INTO production_entries (cooperative_id, member_id, reference, delivered_at, grams)
     VALUES (1, 1, ?, ?, ?)`,
  );
  for (const [i, age] of [0, 364 * DAY + 5, 365 * DAY - 1, 365 * DAY, 365 * DAY + 1].entries())
    deliver.run(`P${i}`, NOW - age, 10 ** i);
  const lend = db.raw.prepare(
    `INSERT INTO loans (cooperative_id, member_id, reference, amount_minor, interest_rate_hundredths, status,
       paid_amount_minor, opening_balance_minor, paid_until, loan_start_date, created_at, updated_at)
     VALUES (1, 1, ?, 100, 1, ?, 7, 7, 1, ?, 1, 1)`,
  );
  for (const [i, status] of [...LOAN_STATUSES, ...LOAN_STATUSES].entries())
    lend.run(`L${i}`, status, i % 2 === 0 ? NOW - (i >> 1) * DAY : null);
  db.close();
  assert.equal(await refreshReadModel(storageAt(file), NOW), 1);
}

const outOfDate = ({ found }: Seen) => found.find(({ check }) => check === 'read model out of date')?.value;
const faults = ({ found }: Seen) => found.filter(({ fault }) => fault !== null);

/** Runs the source of a release, in a process of its own, on a copy of the registry. */
async function probe(context: TestContext, registry: string, change: Change | undefined, offset = '+02:00') {
  const folder = temporaryFolder(context);
  const source = join(folder, 'src');
  cpSync(join(ROOT, 'src'), source, { recursive: true });
  copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  cpSync(join(ROOT, SAMPLE), join(folder, SAMPLE));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(source, 'probe.ts'), PROBE);
  const copy = join(folder, 'registry.db');
  copyFileSync(registry, copy);
  const db = openFile(copy);
  db.run('UPDATE totals_zone SET version = substr(version, 1, length(version) - 6) || ?', [offset]);
  db.close();
  for (const { file, from, to } of change === undefined ? [] : [change, NEXT_VERSION]) {
    const text = readFileSync(join(source, file), 'utf8');
    assert.equal(text.split(from).length, 2, `${file} says once: ${from}`);
    writeFileSync(
      join(source, file),
      text.replace(from, () => to),
    );
  }
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [join(source, 'probe.ts'), copy, offset], CHILD_LIMIT);
  return JSON.parse(stdout) as { before: Seen; refreshed: number; after: Seen; fingerprint: string };
}

test('no release serves what one with other rules has stored; check reports it, a refresh renews it', {
  timeout: 120_000,
}, async (context) => {
  const registry = join(temporaryFolder(context), 'registry.db');
  await fill(registry);
  const same = await probe(context, registry, undefined);
  assert.deepEqual([outOfDate(same.before), same.refreshed, faults(same.before)], ['0', 0, []]);

  const cases = [
    ...CHANGES.map((change) => ({ rule: change.rule, change, offset: '+02:00' })),
    { rule: 'the time zone', change: undefined, offset: '-05:00' },
  ];
  for (const { rule, change, offset } of cases) {
    const seen = await probe(context, registry, change, offset);
    if (change !== undefined) assert.notEqual(seen.fingerprint, same.fingerprint, rule);
    // Computed by its own rules, before the refresh as after it, and not what this release has stored.
    assert.deepEqual(seen.before.shown, seen.after.shown, rule);
    // Each of the two ways to compute production has its own boundary.
    if (rule !== 'an edge of the window') assert.notDeepEqual(seen.before.shown, same.before.shown, rule);
    assert.deepEqual([outOfDate(seen.before), seen.refreshed, outOfDate(seen.after)], ['1', 1, '0'], rule);
    assert.deepEqual(faults(seen.before), [], rule);
  }
});

test('what a release without versions has stored is out of date', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  await fill(file);
  const db = openFile(file);
  const [stored] = db.raw.prepare('SELECT production, loans FROM members').all() as { production: string }[];
  db.exec(`UPDATE members SET production = substr(production, 9), loans = '0badc0de[]'`);
  const checked = await checkStorage(storageAt(file));
  assert.equal(outOfDate({ shown: {}, found: checked }), '1');
  assert.deepEqual(faults({ shown: {}, found: checked }), []);
  const store = openStore(file);
  const [membership] = await store.members.listActiveMemberships('1198589000123042', NOW);
  await store.close();
  assert.equal(membership?.financials?.production.totalGrams, 111);
  assert.notEqual(membership?.financials?.loanHistory, '[]');
  assert.equal(await refreshReadModel(storageAt(file), NOW), 1);
  assert.deepEqual(db.raw.prepare('SELECT production, loans FROM members').all(), [stored]);
  db.close();
});
