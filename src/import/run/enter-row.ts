/**
 * One row that somebody has typed: read, checked, previewed, recorded and undone as the row of a file, with
 * the same words for what is wrong with it (docs/desk.md#entering-by-hand).
 */
import { createHash } from 'node:crypto';
import type { TimeZone } from '../../domain/values/date-time.ts';
import type { Text } from '../../domain/values/message.ts';
import type { Clock } from '../../runtime/clock.ts';
import type {
  ImportChanges,
  ImportKind,
  ImportSession,
  StagedChange,
  StagedRow,
} from '../../store/contract/import/import-session.ts';
import type { RecordSource } from '../formats/source/records.ts';
import { importFiles } from './import-files.ts';

/** Line on which the only row is: the header is on the first. */
const LINE = 2;

export interface TypedRow {
  readonly kind: ImportKind;
  /** Texts by the names of columns; of a stored row, a column that is missing keeps its value. */
  readonly values: ReadonlyMap<string, string>;
}

export interface EnterOptions {
  readonly zone: TimeZone;
  readonly clock: Clock;
  /** Who has typed it. */
  readonly systemUser: string;
  /** Of what somebody has seen and agreed to. */
  readonly agreed?: string;
  /** Whether a row that is new, and of which nothing warns, is entered without being shown first. */
  readonly isDirect?: boolean;
}

/** A fault of a cell; without a column, of the row. */
export interface RowFault {
  readonly column: string;
  readonly message: Text;
}

/** What a typed row would do. */
export interface RowPlan {
  readonly changes: ImportChanges;
  /** Stored values that it changes. */
  readonly listed: readonly StagedChange[];
  readonly warnings: readonly Text[];
  /** The values as they were understood, in the order of the columns of the kind. */
  readonly understood: StagedRow['values'];
  /** Of all this: what somebody agrees to. */
  readonly fingerprint: string;
}

export type Entered =
  | { readonly outcome: 'refused'; readonly faults: readonly RowFault[] }
  | { readonly outcome: 'planned'; readonly plan: RowPlan }
  | { readonly outcome: 'failed'; readonly message: Text }
  | { readonly outcome: 'entered'; readonly plan: RowPlan; readonly operationId: number };

/**
 * Enters a row when it was agreed to, or may be entered directly; otherwise gives what it would do.
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
