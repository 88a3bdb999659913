/** What is declared for each column, compared with the columns that the tables have. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EVENT_FIELDS, type EventEntity, fieldBit } from '../../../src/registry/changes/event-types.ts';
import { recordedColumns, TABLES, tableOf } from '../../../src/registry/changes/tables.ts';
import { COOPERATIVE_FIELDS } from '../../../src/registry/cooperatives.ts';
import { ENTRY_KINDS } from '../../../src/registry/entries.ts';
import { LOAN_FIELDS } from '../../../src/registry/loans.ts';
import { MEMBER_FIELDS } from '../../../src/registry/members.ts';
import { PAYMENT_FIELDS } from '../../../src/registry/payments.ts';
import { readEntries } from '../../../src/registry/stored/identify.ts';
import { isReplaced, listFields, type RecordedField } from '../../../src/values/declared-fields.ts';
import { temporaryFolder } from '../../support/app.ts';
import { LOANS_HEADER, SAVINGS_HEADER, startedPlace } from '../../support/importing.ts';
import { type Connection, openFile, openStore } from '../../support/sqlite.ts';

const DECLARED: { readonly [entity in EventEntity]: { readonly [property: string]: RecordedField } } = {
  cooperative: COOPERATIVE_FIELDS,
  member: MEMBER_FIELDS,
  loan: LOAN_FIELDS,
  payment: PAYMENT_FIELDS,
};

function openEmpty(context: TestContext): Connection {
  const store = openStore(join(temporaryFolder(context), 'registry.db'));
  context.after(() => store.close());
  return store.connection;
}

/** Recorded in the history only. */
const NOT_IN_EVENTS: { readonly [entity: string]: readonly string[] } = {
  cooperative: ['created_at'],
  member: ['created_at', 'date_of_death'],
  loan: ['opening_balance', 'paid_until', 'created_at'],
  payment: ['created_at'],
};

test('events name every recorded column of their rows, but those listed here', (context) => {
  const db = openEmpty(context);
  for (const each of TABLES) {
    if (!('entity' in each.announced)) continue;
    const { entity } = each.announced;
    const unnamed = recordedColumns(db, each)
      .map(({ field }) => field)
      .filter((field) => fieldBit(entity, field) === 0);
    assert.deepEqual(unnamed.sort(), [...(NOT_IN_EVENTS[entity] ?? [])].sort(), entity);
  }
});

test('events name every field that a write over HTTP records', () => {
  for (const [entity, declared] of Object.entries(DECLARED)) {
    const recorded = listFields(declared).filter(isReplaced);
    assert.ok(recorded.length > 0);
    assert.deepEqual(
      recorded.filter(({ name }) => fieldBit(entity as EventEntity, name) === 0),
      [],
    );
  }
});

test('events name no field that is not a column, but the two summaries of a member', (context) => {
  const db = openEmpty(context);
  const fields = TABLES.flatMap((each) => {
    const { announced } = each;
    if (!('entity' in announced)) return [];
    return recordedColumns(db, each).map(({ field }) => `${announced.entity} ${field}`);
  });
  const named = Object.entries(EVENT_FIELDS).flatMap(([entity, names]) =>
    names.map((name) => `${entity} ${name}`),
  );
  assert.deepEqual(
    named.filter((each) => !fields.includes(each)),
    ['member production_summary', 'member savings_summary'],
  );
});

test('every column of a table is declared as a field, and every field has its column', (context) => {
  const db = openEmpty(context);
  for (const each of TABLES) {
    if (!('entity' in each.announced)) continue;
    const columns = recordedColumns(db, each).map(({ column, field }) => `${column} ${field}`);
    const declared = listFields(DECLARED[each.announced.entity]).map(
      ({ column, name }) => `${column} ${name}`,
    );
    assert.deepEqual([...declared, 'created_at created_at'].sort(), columns.sort(), each.table);
  }
});

test('commands show every recorded column of an entry', async (context) => {
  const place = await startedPlace(context);
  await place.load(
    'production',
    'cooperative_code,member_code,reference,delivered_at,kg\nA-1,M-1,P-1,2025-06-01,1\n',
  );
  await place.load('loans', `${LOANS_HEADER}\nA-1,M-1,L-1,1000,5,approved,,2025-01-01,,\n`);
  await place.load('savings', `${SAVINGS_HEADER}\nA-1,M-1,S-1,T-1,contribution,100,2025-06-01\n`);
  const db = openFile(place.databaseFile);
  context.after(() => db.close());
  // Shown under other names: the code of the cooperative, the number of the account.
  const byCode = ['cooperative_id', 'account_id'];
  for (const kind of ENTRY_KINDS) {
    const shown = Object.keys(readEntries(db, kind, { memberId: 1 })[0] ?? {});
    const recorded = recordedColumns(db, tableOf(kind)).map(({ field }) => field);
    assert.deepEqual(
      recorded.filter((field) => !shown.includes(field) && !byCode.includes(field)),
      [],
      kind,
    );
  }
});
