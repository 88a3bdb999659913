/** Every command against every state that a registry can be in, made from the commands themselves. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import { temporaryFolder, testClock } from '../support/app.ts';
import { command } from '../support/command.ts';
import { copyRegistry } from '../support/sample-registry.ts';
import { type Connection, openFile } from '../support/sqlite.ts';

const program = await createProgram({
  env: {},
  clock: testClock(0),
  out: () => {},
  err: () => {},
  terminal: undefined,
});

// What serves finds its port in use, and ends.
const taken = createServer().listen(0, '127.0.0.1');
await once(taken, 'listening');
const usedPort = `${(taken.address() as AddressInfo).port}`;
after(() => taken.close());

/** Stands for a folder of its own, which is not there yet. */
const FOLDER = 'FOLDER';

/** What fits the argument or the option of this name; others get a number. */
function valueFor(name: string, choices: readonly string[] | undefined): string {
  const known: { readonly [name: string]: string } = {
    nid: '1198079244288038',
    old: '1198079244288038',
    new: '1198079244288046',
    dir: FOLDER,
    folder: FOLDER,
    scope: 'members:read',
    events: 'member.created',
    url: 'https://example.rw/',
    name: 'Uwase',
    to: 'A',
    on: '2026-01-01',
    code: 'KOMUKINYU-GSG',
  };
  return choices?.[0] ?? known[name.toLowerCase()] ?? '1';
}

/** A command line for each command, with what it must be given. */
function linesOf(each: Command, path: readonly string[]): string[][] {
  // Some say themselves that an option is missing.
  const needed = each.options.filter(
    (option) => option.mandatory || ['name', 'scope', 'key', 'url'].includes(option.attributeName()),
  );
  const line = [
    ...path,
    ...each.registeredArguments
      .filter(({ required }) => required)
      .map((given) => valueFor(given.name(), given.argChoices)),
    ...needed.flatMap((option) => [option.long ?? '', valueFor(option.attributeName(), option.argChoices)]),
    ...(each.options.some(({ long }) => long === '--yes') ? ['--yes'] : []),
    ...(each.options.some(({ long }) => long === '--port') ? ['--port', usedPort] : []),
  ];
  return [
    ...(each.options.some(({ long }) => long === '--db') ? [line] : []),
    ...each.commands.flatMap((inner) => linesOf(inner, [...path, inner.name()])),
  ];
}
const runs = program.commands.flatMap((each) => linesOf(each, [each.name()]));

/** As if a newer release had written it: the version of the schema is in the 60th byte and after it. */
function makeNewer(file: string): void {
  const bytes = readFileSync(file);
  bytes.writeInt32BE(9999, 60);
  writeFileSync(file, bytes);
}

function withFile(file: string, use: (db: Connection) => unknown): void {
  const db = openFile(file);
  use(db);
  db.close();
}

interface State {
  /** What the registry is made of; `db` is a complete one. */
  readonly make?: (db: string) => unknown;
  readonly env?: NodeJS.ProcessEnv;
  /** The only commands that may succeed; without it, any may. */
  readonly works?: RegExp;
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
  fenced: {
    make: (db) => command(['fence', '--db', db]),
    works: /^(?:backup FOLDER|check|fence|time-zone|webhooks list)\b/,
  },
  'of a newer release': { make: (db) => makeNewer(db), works: WITHOUT },
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
    works: /^(?:backup|fence|time-zone|webhooks list)\b/,
  },
  'without names that can be searched': {
    make: (db) =>
      withFile(db, (opened) => opened.run('INSERT INTO unindexed_names (first_id) VALUES (9999)')),
  },
};

for (const [name, { make, env, works }] of Object.entries(STATES)) {
  test(`every command answers with a sentence and its status when the registry is ${name}`, async (context) => {
    assert.ok(runs.length > 40, `${runs.length} commands`);
    const faults: string[] = [];
    const made = temporaryFolder(context);
    const prepared = await copyRegistry(made);
    await make?.(prepared);
    for (const [i, words] of runs.entries()) {
      const folder = join(temporaryFolder(context), `${i}`);
      cpSync(made, folder, { recursive: true });
      const db = join(folder, 'live', 'registry.db');
      const line = [...words.map((word) => (word === FOLDER ? join(folder, 'other') : word)), '--db', db];
      const tried = await command(line, { HOST: '127.0.0.1', ...env }, undefined, { language: 'en' }).catch(
        (error: unknown) => ({ status: -1, out: '', err: `${error instanceof Error ? error.stack : error}` }),
      );
      const text = `${tried.out}${tried.err}`;
      const isSentence = tried.status === 0 || /[A-Za-z]{3}.*[.:!]\s/.test(`${text} `);
      const isTrace = /^\s+at .+:[0-9]+:[0-9]+\)?$|\b(?:Sqlite|Type|Range|Reference)Error\b/m.test(text);
      const isUnexpected = tried.status === 0 && works?.test(words.join(' ')) === false;
      if (
        isUnexpected ||
        ![0, 1, 2, 3].includes(tried.status) ||
        !isSentence ||
        isTrace ||
        /SQLITE_|undefined/.test(tried.err)
      )
        faults.push(`${words.join(' ')}: ${tried.status} ${text.slice(0, 1500)}`);
      rmSync(folder, { recursive: true, force: true });
    }
    assert.deepEqual(faults, []);
  });
}
