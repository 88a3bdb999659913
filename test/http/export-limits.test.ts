/** What exports may take of a service: two at once, room on its disk, and nothing for slow clients. */
import assert from 'node:assert/strict';
import { closeSync, fstatSync, readdirSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { writeSpool } from '../../src/export/disk-buffer.ts';
import { createExporter } from '../../src/export/export-routes.ts';
import { openExportSession } from '../../src/export/exported-rows.ts';
import { openSpoolAt } from '../../src/sqlite/durable-files.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { command } from '../support/command.ts';
import { nid, preparedPlace } from '../support/importing.ts';
import { openFile } from '../support/sqlite.ts';

const ROWS = 12_000;
const REQUEST = { request: { kind: 'members', format: 'ndjson', filter: { visible: null } } } as const;

/** So many members that the export is larger than what the system takes for a client that does not read. */
const startLarge = preparedPlace(async ({ databaseFile }) => {
  const db = openFile(databaseFile);
  db.exec(`INSERT INTO cooperatives (code, name, status, created_at, updated_at)
    VALUES ('A-1', 'Abahuje', 'active', 0, 0)`);
  // Straight into the table: the counts do not matter here.
  const columns = `cooperative_id, full_name, role, status, registration_date, created_at, updated_at`;
  db.exec(`INSERT INTO members (identity_card, member_code, ${columns})
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
    SELECT printf('119859%010d', i), 'M-' || i, 1, 'Person ' || printf('%0180d', i), 'MEMBER',
      'active', 0, 0, 0
    FROM n`);
  db.close();
});
const start = async (context: TestContext): Promise<TestApp> =>
  startApp(context, { folder: (await startLarge(context)).folder });

/** Begins an export, of which nothing is read yet. */
const begin = (app: TestApp): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${app.fullKey}` };
    const sent = get(`${app.url}/api/v1/members/export`, { headers, agent: false }, (incoming) => {
      incoming.pause();
      resolve(incoming);
    });
    sent.on('error', reject);
  });

const foldersFiles = (app: TestApp): string[] => readdirSync(app.config.storage.replace(/registry\.db$/, ''));

/** Until a place is free again: the server learns of a client that has left soon after. */
async function untilFree(app: TestApp): Promise<void> {
  while ((await app.send('/cooperatives/export')).status === 503) await pause(10);
}

test('two exports at once; the next waits for one that has everything, or has left', async (context) => {
  const app = await start(context);
  const [first, second] = [await begin(app), await begin(app)];
  const third = await app.send('/members/export');
  assert.deepEqual([third.status, third.json], [503, { detail: '2 exports run already. Try again.' }]);
  assert.equal(third.headers['retry-after'], '30');
  first.destroy();
  await untilFree(app);
  const lines = (await buffer(second)).toString().split('\n');
  assert.equal(lines.length - 1, ROWS);
  await untilFree(app);
});

test('a client that does not read holds no snapshot, and no file has a name', async (context) => {
  const app = await start(context);
  const slow = await begin(app);
  assert.deepEqual(
    foldersFiles(app).filter((name) => !/^registry\.(?:keys\.)?db(?:-wal|-shm)?$/.test(name)),
    [],
  );
  const cooperative = { code: 'B-2', name: 'After the export' };
  await app.send('/cooperatives', { method: 'POST', body: cooperative });
  const db = openFile(app.config.storage);
  const [log] = db.raw.pragma('wal_checkpoint(TRUNCATE)') as { busy: number; log: number }[];
  db.close();
  assert.deepEqual(log, { busy: 0, log: 0, checkpointed: 0 });
  slow.resume();
  await buffer(slow);
});

test('without room on the disk an export is refused', async (context) => {
  const { storage } = (await startApp(context)).registry;
  const session = openExportSession(storage);
  const descriptor = openSpoolAt(storage.pathForOpening());
  context.after(() => session.close());
  const task = { ...REQUEST, descriptor, isLeft: new Int32Array(1) };
  assert.throws(() => writeSpool({ ...session, hasRoom: () => false }, KIGALI, task), {
    ...{ code: 'unavailable', message: 'The disk of the registry has no room for this export.' },
    retryAfterSeconds: 60,
  });
  const written = writeSpool(session, KIGALI, task);
  assert.deepEqual([written.bytes, fstatSync(descriptor).size, fstatSync(descriptor).nlink], [0, 0, 0]);
  assert.equal(fstatSync(descriptor).mode & 0o777, 0o600);
  closeSync(descriptor);
});

test('an export for a client that has left ends', async (context) => {
  const app = await start(context);
  const exporter = createExporter(app.registry.storage);
  context.after(() => exporter.close());
  const left = exporter.run(REQUEST.request, (leave) => leave());
  await assert.rejects(left, { code: 'unavailable', message: 'The client has left.' });
});

test('an erased person is in no export; a loan stays, without the person', async (context) => {
  const app = await startApp(context);
  const post = (path: string, body: object) => app.send(path, { method: 'POST', body });
  await post('/cooperatives', { code: 'A-1', name: 'Abahuje' });
  const person = { identity_card: nid(1), member_code: 'M-1', full_name: 'Person 1' };
  await post('/members', { cooperative_id: '1', ...person });
  const loan = { member_id: '1', reference: 'L-1', amount: '5.00', interest_rate: '1.00' };
  assert.equal((await post('/loans', loan)).status, 201);
  const { status, err } = await command(['persons', 'erase', nid(1), '--reason', 'asked for it', '--yes'], {
    REGISTRY_DB: app.config.storage,
  });
  assert.equal(status, 0, err);
  for (const format of ['ndjson', 'csv']) {
    const members = (await app.send(`/members/export?format=${format}`)).text;
    const loans = (await app.send(`/loans/export?format=${format}`)).text;
    for (const text of Object.values(person)) assert.ok(!(members + loans).includes(text), text);
    assert.ok(loans.includes('L-1'));
  }
});
