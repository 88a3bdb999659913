/** Migrations: released ones stay as they are, and a file of any earlier schema keeps its data. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { checkStorage } from '../../../src/check/check.ts';
import { refreshReadModel } from '../../../src/health/derived-data-commands.ts';
import {
  ERASURES_SCHEMA,
  KEYS_SCHEMA,
  LEDGER_SCHEMA,
  REGISTRY_SCHEMA,
  WEBHOOKS_SCHEMA,
} from '../../../src/sqlite/schemas.ts';
import { NOON, temporaryFolder } from '../../support/app.ts';
import { openStore } from '../../support/sqlite.ts';
import { storageAt } from '../../support/storage.ts';

const NOW = NOON / 1000;
const fingerprint = (sql: string): string => createHash('sha256').update(sql).digest('hex').slice(0, 16);

test('no released migration was edited: files in use have run it', () => {
  assert.deepEqual(REGISTRY_SCHEMA.migrations.map(fingerprint), REGISTRY_FINGERPRINTS);
  assert.deepEqual(KEYS_SCHEMA.migrations.map(fingerprint), KEYS_FINGERPRINTS);
  assert.deepEqual(LEDGER_SCHEMA.migrations.map(fingerprint), LEDGER_FINGERPRINTS);
  assert.deepEqual(ERASURES_SCHEMA.migrations.map(fingerprint), ERASURES_FINGERPRINTS);
  assert.deepEqual(WEBHOOKS_SCHEMA.migrations.map(fingerprint), WEBHOOKS_FINGERPRINTS);
});

test('a file of the first schema keeps its data and answers lookups, with and without read model', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  const db = new Database(file);
  db.exec(REGISTRY_SCHEMA.migrations[0] as string);
  db.exec(`INSERT INTO cooperatives (id, code, name, status, created_at, updated_at)
      VALUES (1, 'A-1', 'A', 'active', 1, 1);
    INSERT INTO members (id, cooperative_id, identity_card, member_code, full_name, role, status,
        registration_date, created_at, updated_at)
      VALUES (1, 1, '1198589000123042', 'M-1', 'First', 'MEMBER', 'active', 1, 1, 1),
        (2, 1, '1198589000123043', 'M-2', 'Second', 'MEMBER', 'active', 1, 1, 1);
    INSERT INTO production_entries (cooperative_id, member_id, reference, delivered_at, grams)
      VALUES (1, 1, 'P', ${NOW - 60}, 2500);
    INSERT INTO loans (cooperative_id, member_id, reference, amount_minor, interest_rate_hundredths, status,
        paid_amount_minor, created_at, updated_at)
      VALUES (1, 1, 'L', 100, 0, 'pending', 0, 1, 1);
    INSERT INTO savings_accounts VALUES (1, 1, 1, 'S');`);
  db.pragma(`application_id = ${REGISTRY_SCHEMA.applicationId}`);
  db.pragma('user_version = 1');
  db.close();

  const store = openStore(file);
  context.after(() => store.close());
  const financials = async () =>
    (await store.members.listActiveMemberships('1198589000123042', NOW))[0]?.financials;
  const before = await financials();
  assert.equal(before?.production.totalGrams, 2500);
  assert.match(before?.loanHistory ?? '', /"status":"pending"/);
  assert.match(before?.savingsSummary ?? '', /"accounts_count":1/);
  assert.equal(await refreshReadModel(storageAt(file), NOW), 1);
  // The reads of an iteration share a snapshot.
  await nextTurn();
  assert.deepEqual(
    { ...(await financials())?.production },
    {
      ...before?.production,
      validFrom: NOW - 60,
      validUntil: NOW - 60 + 365 * 86_400,
    },
  );
  assert.equal((await financials())?.loanHistory, before?.loanHistory);
  const faults = (await checkStorage(storageAt(file))).filter(({ fault }) => fault !== null);
  assert.deepEqual(faults, []);
});

const REGISTRY_FINGERPRINTS = ['cf9f0ba170a37d37'];
const LEDGER_FINGERPRINTS: readonly string[] = ['3615c47c2f6f8a4e'];
const KEYS_FINGERPRINTS: readonly string[] = ['7c6960e99af0547d', '7fab072a942449c8'];
const ERASURES_FINGERPRINTS = ['633236b91bab8da7'];
const WEBHOOKS_FINGERPRINTS = ['2cfd83497452ed47'];
