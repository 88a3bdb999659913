/** `status`: what an operator reads in the morning (docs/operating.md#status). */
import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openKeys } from '../../src/access/api-key-store.ts';
import { type ApiKey, NEW_KEY } from '../../src/access/api-keys.ts';
import type { RegistryStatus, StatusFacts } from '../../src/health/registry-status.ts';
import { findIssues } from '../../src/health/status-warnings.ts';
import { openRegistry } from '../../src/open-registry.ts';
import { webhooksFileOf } from '../../src/sqlite/registry-files.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { openWebhooks } from '../../src/webhooks/open-webhook-store.ts';
import { newSecret } from '../../src/webhooks/webhook-message.ts';
import { type EndpointStatus, statusOf } from '../../src/webhooks/webhook-status.ts';
import { temporaryFolder, testClock } from '../support/app.ts';
import { command } from '../support/command.ts';
import { copyRegistry } from '../support/sample-registry.ts';
import { storageAt } from '../support/storage.ts';

/** Later than the sample was made, or the clock would need attention. */
const NOON = Date.UTC(2100, 5, 15, 10);

async function place(context: TestContext) {
  const root = temporaryFolder(context);
  const db = await copyRegistry(root);
  const clock = testClock(NOON);
  const run = (...args: string[]) => command(args, { REGISTRY_DB: db }, clock);
  return { root, db, clock, run };
}

test('all is well once the last backup is verified: one screen, status 0', async (context) => {
  const { root, run } = await place(context);
  const folder = join(root, 'night');
  assert.equal((await run('backup', folder)).status, 0);
  assert.equal((await run('backup', 'verify', folder)).status, 0);
  const { status, out, err } = await run('status');
  assert.equal(status, 0, out);
  assert.equal(err, '');
  assert.match(out, /The service is not running\.\n\nNothing needs attention\.\n\n/);
  assert.match(out, /^last import +5: savings\S* \(savings\), /m);
  assert.match(out, /^last backup +2100-06-15T12:00:00\+02:00, verified 2100-06-15T12:00:00\+02:00,$/m);
  assert.match(out, /^keys +1 active of 1; 0 expiring within 30 days, 0 refused often$/m);
  const lines = out.split('\n');
  assert.ok(lines.length <= 40);
  // A path is not broken.
  for (const line of lines) assert.ok(line.length <= 80 || line.includes(root), line);
});

test('what needs attention comes first, with the command that settles it, and status 1', async (context) => {
  const { root, clock, run } = await place(context);
  const attention = async () => {
    const { status, out } = await run('status');
    const needed = out.split('\n\n')[1] ?? '';
    assert.equal(status, needed.startsWith('NEEDS ATTENTION\n') ? 1 : 0);
    return needed
      .replaceAll(/\n {4}(?! )/g, ' ')
      .split('\n')
      .slice(1);
  };
  assert.deepEqual(await attention(), [
    '  backup: No backup has been made since the registry was created or restored here.',
    '      npm run -s registry -- backup DIR --keep 14 --verify',
  ]);
  const folder = join(root, 'night');
  await run('backup', folder);
  assert.deepEqual(await attention(), [
    '  backup: The last backup, of 2100-06-15T12:00:00+02:00, is not verified.',
    `      npm run -s registry -- backup verify ${folder}`,
  ]);
  rmSync(join(folder, 'registry.db'));
  await run('backup', 'verify', folder);
  const damaged = `  backup: The last backup, in ${folder}, is not sound: registry.db: it is missing.`;
  assert.equal((await attention())[0], damaged);
  const next = join(root, 'next');
  await run('backup', next);
  await run('backup', 'verify', next);
  assert.deepEqual(await attention(), []);
  const away = `${next}.away`;
  renameSync(next, away);
  assert.match(
    (await attention())[0] ?? '',
    new RegExp(`^  backup: The last backup, in ${next}, is missing:`),
  );
  assert.match((await run('status')).out, /^last backup +2100-06-15T12:00:00\+02:00, GONE from\s+\S+$/m);
  renameSync(away, next);
  assert.deepEqual(await attention(), []);
  clock.advance(27 * 3_600_000);
  assert.match((await attention())[0] ?? '', /^ {2}backup: The last backup is of .*: older than a day\.$/);
});

test('it says whether the service may be running, and without a registry ends with 2', async (context) => {
  const { root, db, run } = await place(context);
  const keys = openKeys(storageAt(db), 'serve');
  assert.match((await run('status')).out, /The service or another process has it open\.\n/);
  await keys.close();
  assert.equal(JSON.parse((await run('status', '--json')).out).in_use, false);
  const nowhere = join(root, 'none.db');
  const none = await run('status', '--db', nowhere);
  assert.deepEqual([none.status, none.err], [2, `There is no database at ${nowhere}.\n`]);
});

test('an endpoint that has to start again is not said to be 0 events behind', async (context) => {
  const { db, run } = await place(context);
  const webhooks = openWebhooks(storageAt(db), 'issue');
  const values = { keyId: 1, url: 'https://bank.example.rw/', types: null, allowsPrivate: false };
  webhooks.add(values, newSecret(), { epoch: 'before', sequence: 1 }, NOON / 1000);
  assert.match((await run('status')).out, /^webhooks +1 endpoint, 1 starting again$/m);
  const { epoch, last_sequence } = JSON.parse((await run('status', '--json')).out);
  webhooks.add(values, newSecret(), { epoch, sequence: last_sequence - 2 }, NOON / 1000);
  webhooks.close();
  const { out } = await run('status');
  assert.match(out, /^webhooks +2 endpoints, at most 2 events behind, 1 starting again$/m);
});

test('a file of webhooks that cannot be read is an issue, and hides no other one', async (context) => {
  const { db, run } = await place(context);
  openWebhooks(storageAt(db), 'issue').close();
  writeFileSync(webhooksFileOf(db), 'damaged'.repeat(1_000));
  const { status, out } = await run('status', '--json');
  assert.equal(status, 1);
  const issues: { about: string; text: string }[] = JSON.parse(out).needs_attention;
  assert.deepEqual(
    issues.map(({ about }) => about),
    ['backup', 'webhooks'],
  );
  assert.match(issues[1]?.text ?? '', /^The webhooks cannot be read: .*\.webhooks\.db cannot be used/);
  assert.match((await run('status')).out, /^webhooks +unknown$/m);
});

test('a registry without keys and imports has a status; --json has the facts', async (context) => {
  const file = join(temporaryFolder(context), 'registry.db');
  await openRegistry(storageAt(file)).close();
  const { status, out } = await command(['status', '--db', file, '--json'], {}, testClock(NOON));
  assert.equal(status, 1);
  const document = JSON.parse(out);
  assert.deepEqual([document.last_import, document.last_backup, document.last_sequence], [null, null, 0]);
  assert.deepEqual(document.keys, { count: 0, active: 0, expiring_soon: [], refused_often: [] });
  assert.deepEqual(document.needs_attention, [
    {
      ...{
        about: 'backup',
        text: 'No backup has been made since the registry was created or restored here.',
      },
      command: `npm run -s registry -- backup DIR --keep 14 --verify --db ${file}`,
    },
  ]);
});

const NOW = 1_000_000_000;
const KEY: ApiKey = {
  ...NEW_KEY,
  id: 3,
  name: 'Bank',
  scopes: ['webhooks:receive'],
  limits: { perHour: 1, perDay: 1 },
  isActive: true,
  prefixes: [],
  createdAt: 0,
  updatedAt: 0,
};
const ENDPOINT: EndpointStatus = {
  endpoint: {
    ...{ id: 1, keyId: 3, url: '', types: null, allowsPrivate: false, createdAt: 0, skips: [], revision: 1 },
    ...{ position: { epoch: 'a', sequence: 1 }, isRestarted: false, failures: 0, failingSequence: null },
    ...{ nextAttemptAtMs: 0, disabledAt: null },
  },
  ...{ behind: 0, oldestAt: null },
};
const LAST = {
  ...{ epoch: 'a', folder: '/b', bytes: 1, fault: null, place: 'elsewhere' as const },
  ...{ instantMs: NOW * 1000, verifiedAtMs: NOW * 1000 },
};
const CONDITION: RegistryStatus = {
  ...{ bytes: 1_000, logBytes: 0, freeBytes: 10_000, reservedBytes: 100, lastImport: undefined },
  rows: { cooperatives: 0, members: 0, deliveries: 0, loans: 0, payments: 0, transactions: 0 },
  readModel: { stale: 0, hasOtherRules: false, unindexed: 0 },
  imports: { running: 0, stagedBytes: 0 },
  sequence: { epoch: 'a', lastSequence: 1 },
  lastBackup: LAST,
  added: [statusOf([ENDPOINT], KIGALI)],
};
const LEDGER = {
  chains: 1,
  files: 1,
  unreadable: [],
  missing: [],
  tooOld: [],
  reservedAccesses: 50_000,
  entries: 2,
  bytes: 3,
  newestMs: NOW * 1000,
  removed: 0,
  removedAtMs: null,
  fault: null,
};
const of = (condition: Partial<RegistryStatus>, facts: Partial<StatusFacts> = {}): StatusFacts => ({
  ...{ location: 'data/registry.db', keys: [KEY], uses: [], isServed: true, now: NOW, zone: KIGALI },
  ...{ ledgerFolder: 'data/registry.ledger', isLedgerOn: true, ledger: undefined },
  ...{ lostKeysFile: undefined, command: (text) => text },
  ...{ condition: { ...CONDITION, ...condition } },
  ...facts,
});
const endpoint = (
  more: Partial<typeof ENDPOINT.endpoint>,
  progress: Partial<typeof ENDPOINT> = {},
): Partial<RegistryStatus> => ({
  added: [statusOf([{ ...ENDPOINT, ...progress, endpoint: { ...ENDPOINT.endpoint, ...more } }], KIGALI)],
});
const late = endpoint({}, { behind: 2, oldestAt: NOW - 901 });
const refused = (requests: number): Partial<StatusFacts> => ({
  uses: [{ keyId: 3, kind: 'refused', name: 'scope', requests, lastAt: NOW }],
});
const keyOf = (more: Partial<ApiKey>): Partial<StatusFacts> => ({ keys: [{ ...KEY, ...more }] });

const CASES: readonly [name: string, facts: StatusFacts, found: readonly [RegExp, string][]][] = [
  ['nothing', of({}), []],
  [
    'a ledger that others may read',
    of({}, { ledger: { ...LEDGER, fault: 'open to others' } }),
    [[/^Users other than the owner/, 'chmod -R go-rwx data/registry.ledger']],
  ],
  [
    'a ledger of another user',
    of({}, { ledger: { ...LEDGER, fault: 'not writable' } }),
    [[/^This user cannot write/, 'ls -la data/registry.ledger']],
  ],
  [
    'a ledger whose disk does not answer',
    of({}, { ledger: { ...LEDGER, fault: 'does not answer' } }),
    [[/^The disk of the access ledger does not answer/, 'ls -la data/registry.ledger']],
  ],
  [
    'a ledger with files that cannot be read, that are missing, and that are too old',
    of(
      {},
      {
        ledger: {
          ...LEDGER,
          ...{ unreadable: ['a.db'], missing: ['z.db'], tooOld: ['b.db', 'c.db', 'd.db', 'e.db'] },
        },
      },
    ),
    [
      [/cannot be read: a\.db\.$/, 'ledger verify'],
      [/are missing: z\.db\.$/, 'ledger verify'],
      [/are too old, while later months are missing: b\.db, c\.db, d\.db, …\.$/, 'ledger prune'],
    ],
  ],
  ['such a one that is off', of({}, { isLedgerOn: false, ledger: { ...LEDGER, fault: 'not writable' } }), []],
  [
    'a clock that was wrong',
    of({}, { uses: [{ keyId: 3, kind: 'admitted', name: '', requests: 1, lastAt: NOW + 61 }] }),
    [[/recorded at 2001-09-09T03:47:41\+02:00, in the future/, 'timedatectl']],
  ],
  ['a clock that was set a little', of({ lastBackup: { ...LAST, instantMs: NOW * 1000 + 60_000 } }), []],
  [
    'a backup that is gone',
    of({ lastBackup: { ...LAST, place: 'missing' } }),
    [[/^The last backup, in \/b, is missing:/, 'backup DIR --keep 14 --verify']],
  ],
  ['a full disk', of({ freeBytes: 99 }), [[/^Only 99 B .*: writes are refused\.$/, 'df -h data']]],
  ['almost a megabyte', of({ freeBytes: 999_960, reservedBytes: 1e6 }), [[/^Only 1\.0 MB /, 'df -h data']]],
  ['a disk that fills', of({ freeBytes: 1_099 }), [[/an import may not fit/, 'df -h data']]],
  ['lost keys', of({}, { lostKeysFile: 'k.db' }), [[/missing: k\.db was lost/, 'restore DIR --replace']]],
  ['a lost sequence', of({ sequence: undefined, added: [] }), [[/lost its sequence/, 'check']]],
  [
    'stale members',
    of({ readModel: { stale: 1, hasOtherRules: false, unindexed: 0 } }),
    [[/of 1 member are/, 'summarize']],
  ],
  [
    'names',
    of({ readModel: { stale: 0, hasOtherRules: false, unindexed: 3 } }),
    [[/^Searches by name do not find 3 members yet\./, 'summarize']],
  ],
  [
    'other rules',
    of({ readModel: { stale: 0, hasOtherRules: true, unindexed: 0 } }),
    [[/another release/, 'summarize']],
  ],
  ['a disabled endpoint', of(endpoint({ disabledAt: 1 })), [[/answered 410\.$/, 'webhooks enable 1']]],
  ['one that fails', of(endpoint({ failures: 5 })), [[/failed 5 times/, 'webhooks deliveries 1']]],
  ['one that failed', of(endpoint({ failures: 4 })), []],
  ['one without a key', of({}, keyOf({ isActive: false })), [[/the key is disabled/, 'keys show 3']]],
  ['one that is late', of(late), [[/is 2 events behind/, 'webhooks deliveries 1']]],
  ['one that is late while nothing runs', of(late, { isServed: false }), []],
  ['a key refused often', of({}, refused(100)), [[/key 3 \(Bank\) 100 times\.$/, 'keys show 3']]],
  ['a key refused less', of({}, refused(99)), []],
  [
    'a key that expires',
    of({}, keyOf({ expiresAt: NOW + 2_591_999 })),
    [[/key 3 \(Bank\) 2001-10-09\.$/, 'keys update 3 --expires DATE']],
  ],
  ['a key that expires later', of({}, keyOf({ expiresAt: NOW + 2_592_000 })), []],
  [
    'several keys',
    of({}, { keys: [1, 2, 3, 4, 5].map((id) => ({ ...KEY, id, expiresAt: NOW + 1 })) }),
    [[/^Expiring within 30 days: key 1 .*, key 2 .*, key 3 .*, 2 more\.$/, 'keys list']],
  ],
];

for (const [name, facts, expected] of CASES)
  test(`attention is asked for: ${name}`, () => {
    const found = findIssues(facts);
    assert.equal(found.length, expected.length, JSON.stringify(found));
    for (const [i, [text, what]] of expected.entries()) {
      assert.match(String(found[i]?.text ?? ''), text);
      assert.equal(found[i]?.command, what);
    }
  });
