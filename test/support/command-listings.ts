/** Every command that lists: a new one is tried without being named. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { IMPORT_KINDS } from '../../src/registry/file-columns.ts';
import { namedCommands } from './document-tables.ts';
import { nid } from './importing.ts';
import { rowsOfEverything } from './rows-of-everything.ts';

/** Those that serve, change something or write files; all others are tried. */
const OTHERS = [
  ...['serve', 'desk', 'seed', 'import', 'import map', 'import template'],
  ...['imports undo', 'summarize'],
  ...['nid replace', 'nid release', 'members merge', 'members move', 'members transfer'],
  ...['cooperatives merge', 'persons deceased', 'persons erase', 'entries remove', 'duplicates dismiss'],
  'duplicates same-person',
  ...['keys create', 'keys update', 'keys disable', 'keys enable', 'keys rotate', 'ledger prune'],
  ...['webhooks add', 'webhooks test', 'webhooks replay', 'webhooks skip', 'webhooks rotate'],
  ...['webhooks enable', 'webhooks remove', 'backup', 'backup verify', 'backup prune', 'restore'],
];

/** For each argument by its name. */
const ARGUMENTS: { readonly [name: string]: readonly string[] } = {
  id: ['1'],
  endpoint: ['1'],
  code: ['C-1'],
  member: ['C-1/M-1'],
  nid: [nid(1)],
  name: ['keza'],
  kind: IMPORT_KINDS,
  dir: ['backups'],
};

/** What a command needs beside its arguments. */
const OPTIONS: { readonly [command: string]: readonly string[] } = {
  'entries list': ['--member', 'C-1/M-1'],
};

/** @throws AssertionError for a command that fails, or shows what is not a value */
export async function tryEveryListing(context: TestContext, rows: number): Promise<void> {
  const place = await rowsOfEverything(context, rows);
  const backups = join(place.folder, 'backups');
  assert.equal((await place.command('backup', backups, '--keep', '1', '--yes')).status, 0);
  const commands = await namedCommands();
  assert.deepEqual(
    OTHERS.filter((name) => !commands.has(name)),
    [],
  );
  for (const [name, command] of commands) {
    if (OTHERS.includes(name)) continue;
    const given = command.registeredArguments.map((argument) => {
      const values = argument.argChoices ?? ARGUMENTS[argument.name()];
      assert.ok(values !== undefined, `${name}: say in ARGUMENTS what <${argument.name()}> may be.`);
      return values;
    });
    const isJson = command.options.some(({ long }) => long === '--json');
    for (const args of combined(given))
      for (const format of isJson ? [[], ['--json']] : [[]]) {
        const line = [
          ...name.split(' '),
          ...args.map((arg) => (arg === 'backups' ? backups : arg)),
          ...(OPTIONS[name] ?? []),
          ...format,
        ];
        const { status, out, err } = await place.command(...line);
        const said = `${line.join(' ')} with ${rows} rows: ${status} ${err}`;
        // `status` says with 1 that something needs attention, others that there is no such row.
        assert.ok(status === 0 || (status === 1 && (rows === 0 || name === 'status')), said);
        assert.doesNotMatch(err, /^\s+at /m, said);
        assert.doesNotMatch(out, /\bundefined\b|\bNaN\b|Invalid Date|\[object|1970-01-01T0/, said);
        if (format.length > 0 && status === 0) JSON.parse(out);
      }
  }
}

const combined = (values: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  values.reduce<readonly (readonly string[])[]>(
    (before, each) => before.flatMap((args) => each.map((value) => [...args, value])),
    [[]],
  );
