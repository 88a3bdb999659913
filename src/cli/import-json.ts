/** What a program reads of an import: one JSON document, streamed, so that memory holds no list of faults. */
import type { FileReport, ImportFile } from '../import/import-files.ts';
import type { ImportFault, RegistrySize } from '../store/ports/import-session.ts';
import type { CliContext } from './context.ts';
import { type ImportOutput, rowsPerSecond } from './import-output.ts';

/** A write for each fault would cost more than the fault. */
const WRITE_CHARACTERS = 64 * 1024;

export function createImportJson(context: CliContext, database: string, isDryRun: boolean): ImportOutput {
  let pending = `{\n  "database": ${JSON.stringify(database)},\n  "dry_run": ${isDryRun},\n  "files": [`;
  let before: RegistrySize | undefined;
  let files = 0;
  let openFile: ImportFile | undefined;
  let faults = 0;

  function write(text: string): void {
    pending += text;
    if (pending.length > WRITE_CHARACTERS) flush();
  }

  function flush(): void {
    context.out(pending);
    pending = '';
  }

  /** The errors come first, as what becomes of the file is not known yet. */
  function begin(file: ImportFile): void {
    if (openFile === file) return;
    openFile = file;
    faults = 0;
    write(`${files++ === 0 ? '' : ','}\n    {\n`);
    write(`      "file": ${JSON.stringify(file.path)},\n      "kind": "${file.kind}",\n      "errors": [`);
  }

  function addFault({ line, column, message }: ImportFault): void {
    write(`${faults++ === 0 ? '' : ','}\n        ${JSON.stringify({ line, column, message })}`);
  }

  return {
    begin(registry) {
      before = registry;
    },
    async checked(file, checked) {
      begin(file);
      for await (const fault of checked.listFaults()) addFault(fault);
    },
    finished(report) {
      begin(report.file);
      const members = Object.entries(describeReport(report));
      write(`${faults === 0 ? '' : '\n      '}],\n`);
      write(members.map(([name, value]) => `      "${name}": ${JSON.stringify(value)}`).join(',\n'));
      write('\n    }');
    },
    end(_reports, after) {
      const registry = `{ "before": ${JSON.stringify(before)}, "after": ${JSON.stringify(after)} }`;
      write(`${files === 0 ? '' : '\n  '}],\n  "registry": ${registry}\n}\n`);
      flush();
    },
  };
}

const describeReport = (report: FileReport) => ({
  outcome: report.outcome,
  message: report.failure?.message ?? null,
  rows: report.rows,
  ...report.changes,
  refused_rows: report.refusedRows,
  imported: report.outcome === 'imported',
  seconds: Number(report.seconds.toFixed(3)),
  rows_per_second: rowsPerSecond(report),
  lock_seconds: Number((report.lockMs / 1000).toFixed(3)),
});
