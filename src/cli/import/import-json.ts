/** What a program reads of an import: one JSON document, streamed, so that memory holds no list of faults. */
import { hideIdentityCards } from '../../domain/membership/identity-card.ts';
import type { FileReport, ImportFile } from '../../import/run/import-report.ts';
import type { AcceptedFile, RegistrySize } from '../../store/contract/import/import-session.ts';
import type { CliContext } from '../terminal/context.ts';
import { createJsonWriter } from '../terminal/json-writer.ts';
import { type FileToShow, type ImportOutput, rowsPerSecond, STOPPED, warningsOf } from './import-output.ts';

const INDENT = ' '.repeat(8);
/** Lists of a file that are known once it is checked, in the order in which they are written. */
const CHECKED_LISTS = ['errors', 'notes', 'warnings', 'conflicts'] as const;

export function createImportJson(context: CliContext, database: string, isDryRun: boolean): ImportOutput {
  const document = createJsonWriter(context.out);
  document.write(`{\n  "database": ${JSON.stringify(database)},\n  "dry_run": ${isDryRun},\n  "files": [`);
  let before: RegistrySize | undefined;
  let files = 0;
  let openFile: ImportFile | undefined;
  const missing = new Set<string>();

  /** The faults and warnings come first, as what becomes of the file is not known yet. */
  function begin(file: ImportFile): void {
    if (openFile === file) return;
    openFile = file;
    for (const name of CHECKED_LISTS) missing.add(name);
    document.write(`${files++ === 0 ? '' : ','}\n    {\n`);
    document.write(
      `      "file": ${JSON.stringify(hideIdentityCards(file.path))},\n      "kind": "${file.kind}"`,
    );
  }

  function list(name: (typeof CHECKED_LISTS)[number], items: Parameters<typeof document.list>[0]) {
    missing.delete(name);
    document.write(`,\n      "${name}": `);
    return document.list(items, INDENT);
  }

  return {
    begin(registry) {
      before = registry;
    },
    async checked(shown) {
      begin(shown.file);
      const { checked, findings } = shown;
      await list('errors', describeFaults(shown));
      await list(
        'notes',
        findings.notes.map(({ kind, column, count, lines }) => ({ kind, column, count, lines: lines() })),
      );
      await list(
        'warnings',
        warningsOf(shown).map(({ kind, stops, message, lines }) => ({
          kind,
          stops,
          message,
          lines: lines(),
        })),
      );
      if (!checked.isRefused) await list('conflicts', describeConflicts(checked));
    },
    finished(report) {
      begin(report.file);
      for (const name of missing) document.write(`,\n      "${name}": []`);
      for (const [name, value] of Object.entries(describeReport(report)))
        document.write(`,\n      "${name}": ${JSON.stringify(value)}`);
      document.write('\n    }');
    },
    end(_reports, after) {
      const registry = `{ "before": ${JSON.stringify(before)}, "after": ${JSON.stringify(after)} }`;
      document.write(`${files === 0 ? '' : '\n  '}],\n  "registry": ${registry}\n}\n`);
      document.flush();
    },
  };
}

function* describeFaults({ checked, source, findings }: FileToShow): Generator<object> {
  const sheet = source.format.type === 'workbook' ? source.format.sheet : null;
  for (const { line, column, message } of checked.listFaults()) {
    const cell = findings.cellOf({ line, column }) ?? null;
    yield { line, sheet, cell, column, message };
  }
}

function* describeConflicts(accepted: AcceptedFile): Generator<object> {
  for (const { line, column } of accepted.listKept()) yield { line, column };
}

const describeReport = (report: FileReport) => ({
  outcome: report.outcome,
  message: report.outcome === 'stopped' ? STOPPED : (report.failure?.message ?? null),
  rows: report.rows,
  import_id: report.importId ?? null,
  same_as_import: report.sameAsImport ?? null,
  ...report.changes,
  missing: report.missing,
  refused_rows: report.refusedRows,
  columns: Object.fromEntries([...report.columns].map(([name, changed]) => [name, { changed }])),
  imported: report.outcome === 'imported',
  seconds: Number(report.seconds.toFixed(3)),
  rows_per_second: rowsPerSecond(report),
  lock_seconds: Number((report.lockMs / 1000).toFixed(3)),
});
