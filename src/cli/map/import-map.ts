/** `import map`: proposes how a file is to be read (docs/import-reference.md#maps). */
import { basename } from 'node:path';
import type { Command } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import { cellContext } from '../../import/cells/context.ts';
import { openFile } from '../../import/formats/open-file.ts';
import { FileFault, type RecordSource } from '../../import/formats/source/records.ts';
import { UnknownSheetError } from '../../import/formats/workbook/open-workbook.ts';
import { type MapProposal, proposeMap } from '../../import/proposal/propose-map.ts';
import { scoreHeader } from '../../import/table/headings.ts';
import { nowSeconds } from '../../runtime/clock.ts';
import { systemCodeOf } from '../../runtime/system-code.ts';
import { IMPORT_KINDS, type ImportKind } from '../../store/ports/import/import-session.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseKind, statOf } from '../terminal/options.ts';
import { formatJson } from '../terminal/output.ts';
import { configOf } from '../terminal/settings.ts';
import { describeProposal, remarksOn } from './import-map-output.ts';
import { assertMapPath, writeMapFile } from './map-file.ts';

interface ImportMapOptions {
  readonly out?: string;
  readonly sheet?: string;
  readonly json?: boolean;
}

export function declareImportMap(command: Command, context: CliContext): void {
  command
    .argument('<kind>', `one of ${IMPORT_KINDS.join(', ')}`)
    .argument('<file>', 'the file that the map is for')
    .option('--out <map>', 'write the map to this file instead of standard output')
    .option('--sheet <name>', 'the sheet of a workbook')
    .option('--json', 'one JSON document: the map, and what is open in it')
    .action((name: string, path: string, options: ImportMapOptions) => {
      return run(context, { kind: parseKind(name), path }, options);
    });
}

async function run(
  context: CliContext,
  file: { readonly kind: ImportKind; readonly path: string },
  { out, sheet, json }: ImportMapOptions,
): Promise<void> {
  const { path } = file;
  if (!statOf(path).isFile()) throw new CommandError(EXIT.usage, `${path} is not a file.`);
  const config = configOf(context, {});
  if (out !== undefined)
    assertMapPath(out, { source: path, storage: openConfiguredStorage(config, context.clock) });
  const cells = cellContext(config.zone, nowSeconds(context.clock));
  const proposal = await propose(file, { cells, sheet });
  const text = formatJson(proposal.document);
  if (out !== undefined) writeMapFile(out, text);
  if (json === true) {
    context.out(formatJson(describeProposal(proposal)));
    return;
  }
  if (out === undefined) context.out(text);
  for (const remark of remarksOn(proposal)) context.err(`${basename(path)}: ${remark}\n`);
  if (out !== undefined) context.err(`The map is in ${out}.\n`);
}

async function propose(
  { kind, path }: { readonly kind: ImportKind; readonly path: string },
  options: { cells: ReturnType<typeof cellContext>; sheet: string | undefined },
): Promise<MapProposal> {
  let source: RecordSource | undefined;
  try {
    source = await openFile(path, { sheet: options.sheet, scoreHeader: (cells) => scoreHeader(kind, cells) });
    return await proposeMap(source, { kind, ...options });
  } catch (error) {
    if (error instanceof UnknownSheetError) throw new CommandError(EXIT.usage, error.message);
    if (error instanceof FileFault) {
      const lines = error.faults.map(({ line, message }) => `${basename(path)} line ${line}: ${message}`);
      throw new CommandError(EXIT.refused, lines.join('\n'));
    }
    const reason = systemCodeOf(error);
    if (reason === undefined) throw error;
    throw new CommandError(EXIT.refused, `${path} cannot be read (${reason}).`);
  } finally {
    await source?.close();
  }
}
