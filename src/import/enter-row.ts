/**
 * Enters one row typed at the desk: it is read, checked, previewed, recorded and undone like the row of a
 * file, with the same messages about faults (docs/desk.md#entering-by-hand).
 */
import { createHash } from 'node:crypto';
import type { RecordSource } from '../formats/records.ts';
import type { ImportChanges, StagedChange } from '../journal/operations.ts';
import type { ImportKind } from '../registry/file-columns.ts';
import type { Clock } from '../runtime/scheduler.ts';
import type { TimeZone } from '../values/date-time.ts';
import type { StagedRow } from '../values/declared-fields.ts';
import type { Text } from '../values/message.ts';
import { importFiles } from './import-files.ts';
import type { ImportSession } from './staging/session.ts';

/** Line of the only row: the header is on the first. */
const LINE = 2;

interface TypedRow {
  readonly kind: ImportKind;
  /** Texts by column name; a stored row keeps its value in a missing column. */
  readonly values: ReadonlyMap<string, string>;
}

interface EnterOptions {
  readonly zone: TimeZone;
  readonly clock: Clock;
  readonly systemUser: string;
  /** Fingerprint of the plan that the user has seen and agreed to. */
  readonly agreed?: string;
  /** True if a new row without warnings is entered without being shown first. */
  readonly isDirect?: boolean;
}

/** A fault of a cell, or of the row if `column` is empty. */
export interface RowFault {
  readonly column: string;
  readonly message: Text;
}

export interface RowPlan {
  readonly changes: ImportChanges;
  /** Stored values that it changes. */
  readonly listed: readonly StagedChange[];
  readonly warnings: readonly Text[];
  /** Values as they were understood, in the order of the columns of the kind. */
  readonly understood: StagedRow['values'];
  /** Hash of the above, which the user agrees to. */
  readonly fingerprint: string;
}

export type Entered =
  | { readonly outcome: 'refused'; readonly faults: readonly RowFault[] }
  | { readonly outcome: 'planned'; readonly plan: RowPlan }
  | { readonly outcome: 'failed'; readonly message: Text }
  | { readonly outcome: 'entered'; readonly plan: RowPlan; readonly operationId: number };

/**
 * Enters a row if it was agreed to, or may be entered directly; otherwise returns its plan.
 * @throws an unexpected error
 */
export async function enterRow(
  session: ImportSession,
  { kind, values }: TypedRow,
  { agreed, isDirect = false, ...options }: EnterOptions,
): Promise<Entered> {
  let faults: readonly RowFault[] = [];
  let plan: RowPlan | undefined;
  const entered = sourceOf(values);
  const [report] = await importFiles(
    session,
    [{ kind, path: '', name: '', entered }],
    {
      ...options,
      isDryRun: false,
      asks: true,
      acceptTrailingZero: true,
      skipInvalid: false,
      overwritesCorrections: true,
    },
    {
      checked(_file, checked, _source, findings) {
        faults = [...checked.listFaults()].map(({ column, message }) => ({ column, message }));
        if (checked.isRefused) return;
        const listed = [...checked.listChanges()];
        const warnings = checked.warnings.map(({ message }) => message);
        const understood = findings.firstRows[0]?.values ?? [];
        const shown = { changes: checked.changes, listed, warnings, understood };
        plan = { ...shown, fingerprint: fingerprintOf(shown) };
      },
      confirm: async ({ outcome, changes }) =>
        changes.created + changes.changed > 0 &&
        (plan?.fingerprint === agreed ||
          (isDirect && outcome === 'accepted' && plan?.warnings.length === 0 && changes.created === 1)),
    },
  );
  if (report === undefined) throw new Error('A row has no report.');
  if (report.failure?.isExpected === true) return { outcome: 'failed', message: report.failure.message };
  if (report.failure !== undefined && report.importId === undefined) throw report.failure.error;
  if (plan === undefined) return { outcome: 'refused', faults };
  return report.importId === undefined
    ? { outcome: 'planned', plan }
    : { outcome: 'entered', plan, operationId: report.importId };
}

const fingerprintOf = (shown: Omit<RowPlan, 'fingerprint'>): string =>
  createHash('sha256')
    .update(JSON.stringify({ ...shown, warnings: shown.warnings.map(String) }))
    .digest('base64url');

function sourceOf(values: ReadonlyMap<string, string>): RecordSource {
  const records = [
    { line: LINE - 1, cells: [...values.keys()] },
    { line: LINE, cells: [...values.values()] },
  ];
  return {
    bytes: 0,
    sha256: createHash('sha256')
      .update(JSON.stringify([...values]))
      .digest('hex'),
    format: { type: 'text', encoding: 'utf-8', hasMark: false, separator: ',' },
    async *read() {
      yield { records, bytesRead: 0 };
    },
    close: async () => undefined,
  };
}
