/** The output of the `import` command: the interface of all outputs, and the JSON document. */

import { createJsonWriter } from '../../terminal/output.ts';
import type { Run } from '../../terminal/run.ts';
import type { PrintOptions } from '../../terminal/settings.ts';
import type { Awaitable } from '../../values/errors.ts';
import { hideIdentityCards } from '../../values/identity-card.ts';
import { say } from '../../values/message.ts';
import { type FileCheck, warningsOf } from '../import-files.ts';
import type { FileReport, ImportFile } from '../import-report.ts';
import type { RegistrySize } from '../staging/import-session.ts';

export interface ImportCommandOptions extends PrintOptions {
  readonly create?: boolean;
  readonly dryRun?: boolean;
  readonly ask?: boolean;
  readonly rejects?: string;
  readonly changes?: string;
  readonly replaces?: number;
  readonly absent?: string;
  readonly yes?: boolean;
  readonly overwriteCorrections?: boolean;
  readonly despiteErasure?: boolean;
  readonly skipInvalid?: boolean;
  readonly skipHidden?: boolean;
  readonly acceptTrailingZero?: boolean;
}

export type ImportRun = Run<ImportCommandOptions>;

/** Output of the `import` command: text for the operator (import-as-text.ts), or a JSON document. */
export interface ImportOutput {
  /** Called once, before the first file. */
  begin(registry: RegistrySize): void;
  checked(check: FileCheck): Awaitable<void>;
  finished(report: FileReport): void;
  /** Called once, after the last file. */
  end(reports: readonly FileReport[], registry: RegistrySize): void;
}

export const STOPPED = say('Stopped by warnings. Look at them; to import the file nevertheless, add --yes.');

export const rowsPerSecond = ({ rows, seconds }: FileReport): number =>
  Math.round(rows / Math.max(seconds, 0.001));

const INDENT = ' '.repeat(8);
/** Properties that are written when a file is checked, in their order in the document. */
const CHECKED_LISTS = ['errors', 'notes', 'warnings', 'conflicts'] as const;

/** Streams the JSON document. The list of faults may be too long for memory. */
export function createImportJson({ out, storage }: ImportRun, isDryRun: boolean): ImportOutput {
  const document = createJsonWriter(out);
  const database = JSON.stringify(storage.location);
  document.write(`{\n  "database": ${database},\n  "dry_run": ${isDryRun},\n  "files": [`);
  let before: RegistrySize | undefined;
  let files = 0;
  let openFile: ImportFile | undefined;
  const missing = new Set<string>();

  function begin(file: ImportFile): void {
    if (openFile === file) return;
    openFile = file;
    for (const name of CHECKED_LISTS) missing.add(name);
    document.write(`${files++ === 0 ? '' : ','}\n    {\n`);
    document.write(
      `      "file": ${JSON.stringify(hideIdentityCards(file.path))},\n      "kind": "${file.kind}"`,
    );
  }

  function list(name: (typeof CHECKED_LISTS)[number], items: Iterable<unknown>) {
    missing.delete(name);
    document.write(`,\n      "${name}": `);
    return document.list(items, INDENT);
  }

  return {
    begin(registry) {
      before = registry;
    },
    async checked(check) {
      const { checked, findings, file } = check;
      begin(file);
      await list('errors', describeFaults(check));
      const notes = findings.notes.map(({ texts, ...note }) => ({
        ...note,
        // The texts may contain names of people. Only operators may see them, in the output of a dry run.
        ...(isDryRun && texts && { texts }),
        lines: note.lines(),
      }));
      await list('notes', notes);
      const warnings = warningsOf(check).map(({ kind, stops, message, lines }) => {
        return { kind, stops, message, lines: lines() };
      });
      await list('warnings', warnings);
      if (checked.isRefused) return;
      const conflicts = Iterator.from(checked.listKept()).map(({ line, column }) => ({ line, column }));
      await list('conflicts', conflicts);
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

const describeFaults = ({ checked, source: { format }, findings }: FileCheck) =>
  Iterator.from(checked.listFaults()).map(({ line, column, message }) => {
    const sheet = format.type === 'workbook' ? format.sheet : null;
    return { line, sheet, cell: findings.cellOf({ line, column }) ?? null, column, message };
  });

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
