/** Imports a row that a user typed at the desk, as if it came from a file (docs/desk.md#entering-by-hand). */
import { hash } from 'node:crypto';
import { FILE_COLUMNS, type ImportKind } from '../registry/file-columns.ts';
import type { Text } from '../values/message.ts';
import type { RecordSource } from './files/records.ts';
import { type FileCheck, type ImportOptions, importFiles, warningsOf } from './import-files.ts';
import type { ImportSession } from './staging/import-session.ts';

interface EnteringOptions extends Pick<ImportOptions, 'zone' | 'clock' | 'systemUser'> {
  /** Fingerprint of the plan that the user has confirmed. */
  readonly agreed?: string | undefined;
  /** True to import a new row at once if it has no warnings. */
  readonly isDirect?: boolean;
}

/** Fault of a cell, or of the entire row if `column` is empty. */
export interface RowFault {
  readonly column: string;
  readonly message: Text;
}

export type RowPlan = NonNullable<ReturnType<typeof planOf>>;

/**
 * Imports the row if it changes something, and if the user has confirmed its plan or `isDirect` permits it.
 * @param values texts by column name; a stored row keeps its values in the other columns
 */
export async function enterRow(
  session: ImportSession,
  { kind, values }: { readonly kind: ImportKind; readonly values: ReadonlyMap<string, string> },
  { agreed, isDirect = false, ...options }: EnteringOptions,
) {
  let faults: readonly RowFault[] = [];
  let plan: RowPlan | undefined;
  const [report] = await importFiles(
    session,
    [{ kind, path: '', name: '', entered: sourceOf(values) }],
    { ...options, isDryRun: false, asks: true, acceptTrailingZero: true, overwritesCorrections: true },
    {
      checked(check) {
        faults = [...check.checked.listFaults()];
        plan = planOf(check, kind, values);
      },
      confirm: async ({ outcome, changes }) =>
        changes.created + changes.changed > 0 &&
        (plan?.fingerprint === agreed ||
          (isDirect && outcome === 'accepted' && plan?.warnings.length === 0 && changes.created === 1)),
    },
  );
  if (report === undefined) throw new Error('A row has no report.');
  const { failure, importId } = report;
  if (failure?.isExpected === true) return { outcome: 'failed', message: failure.message } as const;
  if (failure !== undefined && importId === undefined) throw failure.error;
  if (plan === undefined) return { outcome: 'refused', faults } as const;
  if (importId === undefined) return { outcome: 'planned', plan } as const;
  return { outcome: 'entered', plan, operationId: importId } as const;
}

/**
 * Without `paid_until`, an opening balance ends at the time of the import. The fingerprint omits this end,
 * which is later when the user confirms.
 * @returns undefined if the row has faults
 */
function planOf(check: FileCheck, kind: ImportKind, values: ReadonlyMap<string, string>) {
  const { checked, findings } = check;
  if (checked.isRefused) return undefined;
  const plan = {
    changes: checked.changes,
    /** Stored values that the row changes. */
    listed: [...checked.listChanges()],
    warnings: warningsOf(check).map(({ message }) => message),
    /** Values read from the row, in the order of the kind's columns. */
    understood: findings.firstRows[0]?.values ?? [],
  };
  const isGiven = (column: string | undefined) => column !== 'paid_until' || Boolean(values.get(column));
  const confirmed = {
    ...plan,
    listed: plan.listed.filter(({ column }) => isGiven(column)),
    warnings: plan.warnings.map(String),
    understood: plan.understood.filter((_, i) => isGiven(FILE_COLUMNS[kind][i]?.name)),
  };
  return { ...plan, fingerprint: hashOf(confirmed, 'base64url') };
}

const hashOf = (value: unknown, encoding: 'base64url' | 'hex'): string =>
  hash('sha256', JSON.stringify(value), encoding);

function sourceOf(values: ReadonlyMap<string, string>): RecordSource {
  const records = [
    { line: 1, cells: [...values.keys()] },
    { line: 2, cells: [...values.values()] },
  ];
  return {
    bytes: 0,
    sha256: hashOf([...values], 'hex'),
    format: { type: 'text', encoding: 'utf-8', hasMark: false, separator: ',' },
    async *read() {
      yield { records, bytesRead: 0 };
    },
    close: async () => undefined,
  };
}
