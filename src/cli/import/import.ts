/** `import`: brings CSV files into the registry, each completely or not at all. */
import { existsSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { describeColumns } from '../../import/columns/columns.ts';
import { listImportFiles } from '../../import/run/import-folder.ts';
import { type ImportFile, nameOf } from '../../import/run/import-report.ts';
import { IMPORT_KINDS } from '../../store/contract/import/import-session.ts';
import { declareImportMap } from '../map/import-map.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import { type CliContext, CommandError, EXIT } from '../terminal/context.ts';
import { parseIdOf, parseKind } from '../terminal/options.ts';
import { statOf } from '../terminal/places.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addSettingOptions } from '../terminal/settings.ts';
import { addLayoutOptions, type LayoutOptions, readLayoutOptions } from './import-layout.ts';
import { type ImportCommandOptions, runImport } from './import-run.ts';
import { declareImportTemplate } from './import-template.ts';

const columnsHelp = IMPORT_KINDS.map((kind) => `  ${kind.padEnd(13)} ${describeColumns(kind)}\n`).join('');

const MORE_HELP = `
Columns (* required):
${columnsHelp}
Examples:
  import data/incoming
  import members members-huye.csv --dry-run
  import map members members-huye.csv --out huye.map.json
  import members members-huye.csv --map huye.map.json
  import template members --out members-of-huye.xlsx
`;

type Options = ImportCommandOptions & LayoutOptions;

export function declareImport(command: Command, context: CliContext): void {
  addLayoutOptions(addSettingOptions(command, 'REGISTRY_DB', 'REGISTRY_USER'))
    .argument('<kind-or-folder>', `a folder, or one of ${IMPORT_KINDS.join(', ')}`)
    .argument('[file]', 'the CSV file or workbook, when a kind is named')
    .option('--create', 'with --db: create the database if it does not exist')
    .option('--dry-run', 'check everything and count what would change, write nothing')
    .option('--ask', 'show what each file would change, and ask before it is imported')
    .option('--yes', 'import also what warnings stop')
    .option(
      '--replaces <import>',
      'the file is the newer version of this import',
      parseIdOf('an import, as `imports list`'),
    )
    .option('--absent <file>', 'with --replaces: write the rows that the file no longer has to this file')
    .option('--overwrite-corrections', 'set values back to what they were before they were corrected')
    .option('--despite-erasure', 'import members who were erased')
    .option('--changes <file>', 'write every changed value, as it was and as it is, to this file')
    .option('--rejects <file>', 'write the refused rows with the reasons to this file')
    .option('--skip-invalid', 'import the good rows of a file that has bad ones')
    .option('--accept-trailing-zero', 'national IDs may all end in 0')
    .option('--json', 'one JSON document, every fault included')
    .addHelpText('after', MORE_HELP)
    .action(
      acting(context, async (run: Run<Options>, kindOrFolder: string, path: string | undefined) => {
        const name = run.options.fileName;
        const files = findFiles(run, kindOrFolder, path).map((file) => ({ ...file, name }));
        assertReplacement(path, run.options);
        const kind = path === undefined ? undefined : files[0]?.kind;
        await runImport(run, files, await readLayoutOptions(run, kind));
      }),
    );
  // A folder may be called `help`.
  command.helpCommand(false);
  declareImportMap(
    showingNobody(command.command('map')).description(
      'propose a map for a file; without a kind, it is guessed',
    ),
    context,
  );
  declareImportTemplate(
    showingNobody(command.command('template')).description(
      'write a workbook to fill in: the headings of a kind, and an invented row',
    ),
    context,
  );
}

function findFiles(context: CliContext, kindOrFolder: string, path: string | undefined): ImportFile[] {
  if (path === undefined) {
    if (existsSync(kindOrFolder) && statSync(kindOrFolder).isDirectory())
      return findFilesIn(context, kindOrFolder);
    const isKind = IMPORT_KINDS.some((known) => known === kindOrFolder);
    const what = !isKind ? `${kindOrFolder} is not a folder.` : 'Name the file too.';
    throw new CommandError(EXIT.usage, `${what} Usage: import DIR, or import <kind> FILE.`);
  }
  const kind = parseKind(kindOrFolder);
  if (!statOf(path).isFile()) {
    throw new CommandError(
      EXIT.usage,
      `${path} is not a file. To import a folder, leave out the kind: import ${path}.`,
    );
  }
  return [{ kind, path }];
}

/** @throws CommandError `usage` */
function assertReplacement(path: string | undefined, options: Options): void {
  const { replaces, absent, skipInvalid } = options;
  const refuse = (message: string) => new CommandError(EXIT.usage, message);
  if (absent !== undefined && replaces === undefined)
    throw refuse('--absent needs --replaces: name the import of which the file is the newer version.');
  if (replaces === undefined) return;
  if (path === undefined) throw refuse('--replaces is for one file: import <kind> FILE --replaces ID.');
  if (skipInvalid === true)
    throw refuse(
      'With --skip-invalid, --replaces would remove the rows that are refused. Correct them first.',
    );
}

function findFilesIn(context: CliContext, folder: string): ImportFile[] {
  const kinds = IMPORT_KINDS.join(', ');
  const { files, skipped } = listImportFiles(folder);
  for (const { name, reason } of skipped) context.err(`Skipped ${nameOf({ path: name })}: ${reason}.\n`);
  if (files.length > 0) return files;
  throw new CommandError(EXIT.usage, `${folder} has no file called <kind>*.csv or <kind>*.xlsx (${kinds}).`);
}
