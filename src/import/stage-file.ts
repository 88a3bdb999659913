/** Reads a file into an import session and has it checked. */
import type {
  CheckedFile,
  CheckOptions,
  FileStaging,
  ImportFault,
  ImportKind,
  ImportSession,
} from '../store/ports/import-session.ts';
import type { CellContext } from './cells/context.ts';
import { FileFault, fileFault, type RecordBatch, type RecordSource } from './records.ts';
import { createRowReader, type RowReader } from './rows.ts';

export interface StageOptions extends CheckOptions {
  readonly kind: ImportKind;
  readonly cells: CellContext;
  /** Called between batches; what it throws ends the reading. @param bytesRead of the file so far */
  readonly onBatch: (bytesRead: number) => void;
}

/** @throws RegistryError `unavailable`; the system's error when the file cannot be read */
export async function stageFile(
  session: ImportSession,
  source: RecordSource,
  options: StageOptions,
): Promise<CheckedFile> {
  const { kind, cells, onBatch } = options;
  let reader: RowReader | undefined;
  let staging: FileStaging | undefined;
  try {
    for await (const batch of source.read()) {
      onBatch(batch.bytesRead);
      const [header] = batch.records;
      if (header === undefined) continue;
      const isFirst = reader === undefined;
      reader ??= createRowReader(kind, header, cells);
      staging ??= await session.stage(kind, reader.columns);
      await stageBatch(staging, reader, isFirst ? batch.records.slice(1) : batch.records);
    }
    if (staging === undefined) throw fileFault(1, 'The file is empty: its first line must name the columns.');
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    staging ??= await session.stage(kind, new Set());
    await staging.addFaults(error.faults);
  }
  return staging.check(options);
}

async function stageBatch(
  staging: FileStaging,
  reader: RowReader,
  records: RecordBatch['records'],
): Promise<void> {
  const faults: ImportFault[] = [];
  const rows = records.map(({ line, cells }) => ({
    line,
    values: reader.read(cells, (column, message) => faults.push({ line, column, message, refuses: 'row' })),
  }));
  await staging.addRows(rows);
  if (faults.length > 0) await staging.addFaults(faults);
}
