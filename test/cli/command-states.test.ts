/** Every command against every state that a registry can be in, made from the commands themselves. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { runs, type State, tryCommands } from '../support/command-matrix.ts';
import { quickOrLong } from '../support/quick-or-long.ts';
import { type Connection, openFile } from '../support/sqlite.ts';

/** The version of the schema is in the 60th byte and after it. */
function setVersion(file: string, version: number): void {
  const bytes = readFileSync(file);
  bytes.writeInt32BE(version, 60);
  writeFileSync(file, bytes);
}
const makeNewer = (file: string) => setVersion(file, 9999);

function withFile(file: string, use: (db: Connection) => unknown): void {
  const db = openFile(file);
  use(db);
  db.close();
}

/** What needs no registry, and what only reads which it is. */
const WITHOUT = /^(?:keys|webhooks list|time-zone)\b/;

const STATES: { readonly [name: string]: State } = {
  'in use': {},
  absent: {
    make: (db) => rmSync(dirname(db), { recursive: true }),
    works: /^(?:keys create|seed|webhooks list)\b/,
  },
  empty: { make: (db) => [db, `${db.slice(0, -3)}.keys.db`].map((file) => truncateSync(file)) },
  'of a newer release': { make: (db) => makeNewer(db), works: WITHOUT },
  // Its tables are those of this release, so that it cannot be converted.
  'of an older release': {
    make: (db) => setVersion(db, 0),
    works: /^(?:keys|webhooks list|time-zone)\b/,
  },
  'with keys of a newer release': {
    make: (db) => makeNewer(`${db.slice(0, -3)}.keys.db`),
  },
  'no database': {
    make: (db) => writeFileSync(db, 'something else '.repeat(1000)),
    works: WITHOUT,
  },
  damaged: {
    make: (db) => {
      const bytes = readFileSync(db);
      bytes.fill(0x5a, 4096);
      writeFileSync(db, bytes);
    },
    works: WITHOUT,
  },
  'cut off': { make: (db) => truncateSync(db, Math.floor(statSync(db).size / 3)), works: WITHOUT },
  'a folder': {
    make: (db) => {
      rmSync(db);
      mkdirSync(db);
    },
    works: WITHOUT,
  },
  'of another time zone': {
    env: { TIME_ZONE_OFFSET: '-03:30' },
    works: /^(?:backup|time-zone|webhooks list)\b/,
  },
  'without names that can be searched': {
    make: (db) =>
      withFile(db, (opened) => opened.run('INSERT INTO unindexed_names (first_id) VALUES (9999)')),
  },
};

/** The quick tests try one of the states in which commands work, and one in which most refuse. */
const QUICK = ['in use', 'absent'];

for (const [name, state] of Object.entries(STATES)) {
  if (quickOrLong(!QUICK.includes(name), false)) continue;
  test(`every command answers with a sentence and its status when the registry is ${name}`, async (context) => {
    assert.ok(runs.length > 40, `${runs.length} commands`);
    assert.deepEqual(await tryCommands(context, state), []);
  });
}
