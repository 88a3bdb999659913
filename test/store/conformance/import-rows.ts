/** Rows for the tests of import sessions, and their repeated steps. */
import assert from 'node:assert/strict';
import type { ImportFault } from '../../../src/import/files/records.ts';
import type { AcceptedFile, CheckedFile } from '../../../src/import/staging/apply-checked-file.ts';
import type { ImportSession } from '../../../src/import/staging/import-session.ts';
import type { CheckOptions } from '../../../src/import/staging/staging-tables.ts';
import { IMPORT_COLUMNS } from '../../../src/import/table/columns.ts';
import type { History } from '../../../src/journal/history-commands.ts';
import type { ImportChanges, ImportRecord, StagedChange } from '../../../src/journal/operations.ts';
import type { Journal } from '../../../src/journal/undo.ts';
import type { RegistryStore } from '../../../src/open-registry.ts';
import type { ImportKind } from '../../../src/registry/file-columns.ts';
import type { Member } from '../../../src/registry/members.ts';
import type { StagedRow, StagedValue } from '../../../src/values/declared-fields.ts';
import type { Awaitable } from '../../../src/values/errors.ts';

export interface ImportPlace {
  /** Each call gives a new session on the same registry. */
  openSession(): Awaitable<ImportSession>;
  openJournal(): Awaitable<Journal>;
  openHistory(): Awaitable<History>;
  /** The same registry, as the service uses it. */
  readonly registry: RegistryStore;
}

export type Cells = { readonly [column: string]: StagedValue };

export const NOW = 1_750_000_000;
export const LATER = NOW + 3_600;
export const STRICT: CheckOptions = { acceptTrailingZero: false, skipInvalid: false };
export const SKIPPING: CheckOptions = { ...STRICT, skipInvalid: true };

/** Nobody holds these: order numbers from 9000000 on are not issued. */
export const nid = (n: number): string => `119858${9_000_000 + n}042`;
/** Of a file that never was. */
export const RECORD: ImportRecord = {
  ...{ fileName: 'sample.csv', sha256: 'a'.repeat(64), systemUser: 'operator' },
  ...{ map: null, options: { strict: false }, notes: [] },
};

export const COOPERATIVES: readonly Cells[] = [
  { code: 'A-1', name: 'Abahuje' },
  { code: 'B-2', name: 'Biringaniye' },
];
export const person = (n: number, more: Cells = {}): Cells => ({
  ...{ cooperative_code: 'A-1', identity_card: nid(n), member_code: `M-${n}`, full_name: `Person ${n}` },
  ...more,
});
export const delivery = (member: number, reference: string, grams: number): Cells => ({
  ...{
    cooperative_code: 'A-1',
    member_code: `M-${member}`,
    reference,
    delivered_at: NOW - 86_400,
    kg: grams,
  },
});
export const loan = (member: number, reference: string, amount: number): Cells => ({
  ...{ cooperative_code: 'A-1', member_code: `M-${member}`, reference, amount, interest_rate: 1_250 },
});
export const deposit = (member: number, account: string, reference: string, amount: number): Cells => ({
  ...{ cooperative_code: 'A-1', member_code: `M-${member}`, account_number: account, reference },
  ...{ kind: 'contribution', amount, transacted_at: NOW - 86_400 },
});

/** Rows from line 2 on; a column that no row names is one that the file does not have. */
export async function check(
  session: Pick<ImportSession, 'stage'>,
  kind: ImportKind,
  rows: readonly Cells[],
  options: CheckOptions = STRICT,
  faults: readonly ImportFault[] = [],
): Promise<CheckedFile> {
  const staging = await session.stage(kind, new Set(rows.flatMap((row) => Object.keys(row))));
  const names = IMPORT_COLUMNS[kind].map(({ name }) => name);
  const staged = rows.map(
    (row, i): StagedRow => ({ line: i + 2, values: names.map((name) => row[name] ?? null) }),
  );
  // In two batches, however few they are.
  await staging.addRows(staged.slice(0, 1));
  await staging.addRows(staged.slice(1));
  if (faults.length > 0) await staging.addFaults(faults);
  return staging.check(options);
}

export async function accepted(...args: Parameters<typeof check>): Promise<AcceptedFile> {
  const checked = await check(...args);
  if (checked.isRefused) throw new Error(JSON.stringify(await faultsOf(checked)));
  return checked;
}

export async function refused(
  ...args: Parameters<typeof check>
): Promise<Exclude<CheckedFile, AcceptedFile>> {
  const checked = await check(...args);
  assert.ok(checked.isRefused, 'The file was accepted.');
  return checked;
}

export async function faultsOf(
  checked: CheckedFile,
): Promise<(ImportFault & { readonly message: string })[]> {
  const faults: (ImportFault & { readonly message: string })[] = [];
  for await (const fault of checked.listFaults()) faults.push({ ...fault, message: String(fault.message) });
  return faults;
}
export async function changesOf(checked: AcceptedFile): Promise<StagedChange[]> {
  const changes: StagedChange[] = [];
  for await (const change of checked.listChanges()) changes.push(change);
  return changes;
}
export const placesOf = async (checked: CheckedFile) =>
  (await faultsOf(checked)).map(({ line, column }) => [line, column]);

/** Two cooperatives, and members 1 to 3 of the first. */
export async function start(place: Pick<ImportPlace, 'openSession'>): Promise<void> {
  const session = await place.openSession();
  await (await accepted(session, 'cooperatives', COOPERATIVES)).apply(NOW, RECORD);
  await (await accepted(session, 'members', [person(1), person(2), person(3)])).apply(NOW, RECORD);
  await session.close();
}

export const countsOf = ({ created, changed, unchanged }: ImportChanges) => [created, changed, unchanged];

/**
 * The service shares one snapshot of the registry within an event-loop iteration: what is new shows in the
 * next.
 */
export const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export async function allMembers({ registry }: ImportPlace): Promise<readonly Member[]> {
  await nextIteration();
  const { rows } = await registry.members.list({}, { page: 1, pageSize: 100 });
  const members = await Promise.all(rows.map(({ id }) => registry.members.find(id)));
  return members.filter((member) => member !== undefined);
}

export const rowFault = (line: number, column: string, message = 'Wrong.'): ImportFault => ({
  ...{ line, column, message, refuses: 'row' },
});

export type TestStarted = (
  title: string,
  run: (place: ImportPlace, session: ImportSession) => Promise<void>,
) => unknown;
