/** The import command on a database of its own, and rows for its files. */
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { ImportFault } from '../../src/import/files/records.ts';
import { type ImportOptions, importFiles } from '../../src/import/import-files.ts';
import type { FileReport, ImportFile } from '../../src/import/import-report.ts';
import { openImportSession } from '../../src/import/staging/import-session.ts';
import type { ImportKind } from '../../src/registry/file-columns.ts';
import { KIGALI } from '../../src/values/date-time.ts';
import { type TestClock, temporaryFolder, testClock } from './app.ts';
import { type CommandOutcome, command } from './command.ts';
import { createEmptyRegistry } from './empty-registry.ts';
import { openFile } from './sqlite.ts';
import { storageAt } from './storage.ts';

export interface ImportPlace {
  readonly folder: string;
  readonly databaseFile: string;
  readonly clock: TestClock;
  /** @returns the path of the file */
  write(name: string, content: string | Buffer): string;
  /** Runs any command in this process. */
  command(...args: string[]): Promise<CommandOutcome>;
  /** Runs `import …` in this process. */
  run(...args: string[]): Promise<CommandOutcome>;
  /** Writes one file and imports it. */
  load(kind: string, content: string | Buffer, ...args: string[]): Promise<CommandOutcome>;
  /** Rows of the registry; a missing database has none. */
  query<Row = Record<string, unknown>>(sql: string): Row[];
  /** The single value of a query. */
  value(sql: string): unknown;
  /** Staging files beside the database. */
  leftovers(): string[];
}

/** A place with an empty registry. */
export function importPlace(context: TestContext): ImportPlace {
  const place = placeWithoutRegistry(context);
  createEmptyRegistry(place.databaseFile);
  return place;
}

export function placeWithoutRegistry(context: TestContext): ImportPlace {
  const folder = temporaryFolder(context);
  const databaseFile = join(folder, 'registry.db');
  const clock = testClock();

  const write = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const execute = (...args: string[]) => command(args, { REGISTRY_DB: databaseFile }, clock);
  const run = (...args: string[]) => execute('import', ...args);
  function query<Row>(sql: string): Row[] {
    if (!existsSync(databaseFile)) return [];
    const db = openFile(databaseFile);
    try {
      return db.raw.prepare(sql).all() as Row[];
    } finally {
      db.close();
    }
  }

  return {
    folder,
    databaseFile,
    clock,
    write,
    command: execute,
    run,
    load: (kind, content, ...args) => run(kind, write(`${kind}.csv`, content), ...args),
    query,
    value: (sql) => Object.values(query<Record<string, unknown>>(sql)[0] ?? {})[0],
    leftovers: () => readdirSync(folder).filter((name) => name.includes('.importing')),
  };
}

/** A national ID that nobody holds: order numbers from 9000000 on are not issued. */
export const nid = (n: number): string => `119858${9_000_000 + n}042`;

export const COOPERATIVES = 'code,name\nA-1,Abahuje\nB-2,Biringaniye\n';
export const MEMBERS_HEADER = 'cooperative_code,identity_card,member_code,full_name';
/** Every column of a loans file but `paid_until`. */
export const LOANS_HEADER =
  'cooperative_code,member_code,reference,amount,interest_rate,status,paid_amount,' +
  'loan_start_date,loan_end_date,approved_at';
export const SAVINGS_HEADER =
  'cooperative_code,member_code,account_number,reference,kind,amount,transacted_at';

/** A members file of these rows under the shortest header. */
export const members = (...rows: string[]): string => `${[MEMBERS_HEADER, ...rows].join('\n')}\n`;
/** Person n with the code M-n in cooperative A-1. */
export const member = (n: number, cooperative = 'A-1'): string =>
  `${cooperative},${nid(n)},M-${n},Person ${n}`;

/** Options that import a file of the place only without faults. */
export const importOptions = ({ clock }: ImportPlace): ImportOptions => ({
  zone: KIGALI,
  clock,
  isDryRun: false,
  systemUser: 'operator',
});

/** With its message in English. */
export type ReadFault = ImportFault & { readonly message: string };

/** What became of one file, with all that was found in it. */
export interface ReadFile {
  readonly report: FileReport;
  readonly faults: readonly ReadFault[];
  /** `kind column lines`, as in `heading mobile 1`. */
  readonly notes: readonly string[];
}

/** Imports one file without the command. */
export async function importFile(
  place: ImportPlace,
  file: ImportFile,
  options: Partial<ImportOptions> = {},
): Promise<ReadFile> {
  const session = openImportSession(storageAt(place.databaseFile));
  const faults: ReadFault[] = [];
  try {
    const [report] = await importFiles(
      session,
      [file],
      { ...importOptions(place), ...options },
      {
        async checked({ checked }) {
          for await (const fault of checked.listFaults())
            faults.push({ ...fault, message: String(fault.message) });
        },
      },
    );
    if (report?.failure !== undefined) throw report.failure.error;
    const notes = report?.notes.map(({ kind, column, lines }) => `${kind} ${column} ${[...lines()].join()}`);
    return { report: report as FileReport, faults, notes: notes ?? [] };
  } finally {
    await session.close();
  }
}

/** Imports one file with this content without the command. */
export const importText = (
  place: ImportPlace,
  kind: ImportKind,
  content: string | Buffer,
  options: Partial<ImportOptions> = {},
): Promise<ReadFile> => importFile(place, { kind, path: place.write(`${kind}.csv`, content) }, options);

/** SQL that adds a member to A-1, as the service may while a file is imported. */
export const insertMemberSql = (identityCard: string, code: string): string =>
  `INSERT INTO members (cooperative_id, identity_card, member_code, full_name, role, status,
     registration_date, created_at, updated_at)
   VALUES (1, '${identityCard}', '${code}', 'Meanwhile', 'MEMBER', 'active', 1, 1, 1)`;

/** Writes files to a folder of the place. @returns the folder */
export function incoming(place: ImportPlace, files: Record<string, string>): string {
  const folder = join(place.folder, 'incoming');
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

// One listener for all: Node warns of more than ten.
const ends: (() => void)[] = [];
process.on('exit', () => {
  for (const end of ends) end();
});

/**
 * Begins places with what `prepare` leaves in their folder: it runs once in a process, and is copied then.
 * @param prepare fills a place with an empty registry, and leaves its clock alone
 */
export function preparedPlace(
  prepare: (place: ImportPlace) => Promise<unknown>,
): (context: TestContext) => Promise<ImportPlace> {
  let made: Promise<ImportPlace> | undefined;
  async function make(): Promise<ImportPlace> {
    const after = (end: () => void) => void ends.push(end);
    const place = importPlace({ after } as TestContext);
    await prepare(place);
    return place;
  }
  return async (context) => {
    made ??= make();
    const { folder } = await made;
    const place = placeWithoutRegistry(context);
    cpSync(folder, place.folder, { recursive: true });
    return place;
  };
}

/** A place that already has the two cooperatives and three members of A-1. */
export const startedPlace = preparedPlace(async (place) => {
  for (const [kind, content] of [
    ['cooperatives', COOPERATIVES],
    ['members', members(member(1), member(2), member(3))],
  ] as const) {
    const result = await place.load(kind, content);
    if (result.status !== 0) throw new Error(result.err);
  }
});

/** A place with the cooperative and the member of `test/import/files/`, at the end of 2026. */
export async function placeOfFiles(context: TestContext): Promise<ImportPlace> {
  const place = importPlace(context);
  place.clock.advance(Date.parse('2026-12-31T12:00:00Z') - place.clock.now());
  await importText(place, 'cooperatives', 'code,name\nABC,Abahuza\n');
  await importText(place, 'members', `${MEMBERS_HEADER}\nABC,1198580099999991,M1,Base Member\n`);
  return place;
}
