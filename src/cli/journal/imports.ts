/** `imports`: list, show, changes and undo (docs/import-reference.md#history-and-undo). */
import type { Command } from 'commander';
import { openConfiguredStorage } from '../../app/storage.ts';
import type { Awaitable } from '../../domain/values/awaitable.ts';
import type { TimeZone } from '../../domain/values/date-time.ts';
import { formatDateTime } from '../../domain/values/date-time.ts';
import { pack } from '../../domain/values/message.ts';
import { formatStored } from '../../import/columns/stored-values.ts';
import { nowSeconds } from '../../runtime/clock.ts';
import type { ImportLog, UndoResult } from '../../store/ports/journal/operations.ts';
import { recordAll } from '../persons/record-reading.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import { addConfirmOptions, type ConfirmOptions, changedMeanwhile, confirm } from '../terminal/confirm.ts';
import { type CliContext, CommandError, EXIT, print, tell } from '../terminal/context.ts';
import { createJsonWriter } from '../terminal/json-writer.ts';
import { parseIdOf } from '../terminal/options.ts';
import { formatJson } from '../terminal/output.ts';
import { addPrintOptions, configOf, type PrintOptions } from '../terminal/settings.ts';
import { describeUser } from '../terminal/system-user.ts';
import { withStore } from '../terminal/with-store.ts';
import { describeChange, formatChange } from './history-text.ts';
import { describeImport, describeRecord, describeUndo, formatImport, formatImports } from './imports-text.ts';
import { describeRefusal, describeUndoing, describeUndoneBefore, type Undoing } from './undo-text.ts';

type UndoOptions = PrintOptions & ConfirmOptions;

/** Rows that build on an import shown of those found; the rest is counted. */
const SHOWN_BLOCKERS = 20;

export function declareImports(imports: Command, context: CliContext): void {
  declareList(addPrintOptions(showingNobody(imports.command('list'))), context);
  declareShow(addPrintOptions(addId(showingNobody(imports.command('show')))), context);
  declareChanges(addPrintOptions(addId(imports.command('changes')), 'REGISTRY_USER'), context);
  declareUndo(
    addConfirmOptions(addPrintOptions(addId(showingNobody(imports.command('undo'))), 'REGISTRY_USER')),
    context,
  );
}

const addId = (command: Command) =>
  command.argument('<id>', 'id of the import', parseIdOf('an import, as `imports list`'));

const unknown = () =>
  new CommandError(EXIT.refused, 'There is no import with this id. `imports list` shows all.');

function withLog<T>(
  context: CliContext,
  options: PrintOptions,
  work: (log: ImportLog, zone: TimeZone) => Awaitable<T>,
): Promise<T> {
  const config = configOf(context, options);
  const log = openConfiguredStorage(config, context.clock).openImportLog();
  return withStore(log, () => work(log, config.zone));
}

function declareList(command: Command, context: CliContext): void {
  command.description('list the imports, the newest last').action(async (options: PrintOptions) => {
    await withLog(context, options, async (log, zone) => {
      const imports = await log.list();
      const isJson = options.json === true;
      context.out(
        isJson
          ? formatJson({ imports: imports.map((each) => describeImport(each, zone)) })
          : formatImports(imports, zone),
      );
    });
  });
}

function declareShow(command: Command, context: CliContext): void {
  command
    .description('show one import: its file, options and notes, and what it did')
    .action(async (id: number, options: PrintOptions) => {
      await withLog(context, options, async (log, zone) => {
        const found = await log.find(id);
        if (found === undefined) throw unknown();
        const isJson = options.json === true;
        context.out(isJson ? formatJson(describeRecord(found, zone)) : formatImport(found, zone));
      });
    });
}

function declareChanges(command: Command, context: CliContext): void {
  command
    .description('list each stored value that an import changed, with what it was before')
    .action(async (id: number, options: PrintOptions) => {
      await withLog(context, options, async (log, zone) => {
        if ((await log.find(id)) === undefined) throw unknown();
        await recordAll(context, options);
        await printChanges(context, log.listChanges(id), { zone, isJson: options.json === true });
      });
    });
}

/** Streamed: there may be a million. */
async function printChanges(
  context: CliContext,
  changes: ReturnType<ImportLog['listChanges']>,
  { zone, isJson }: { zone: TimeZone; isJson: boolean },
): Promise<void> {
  const writer = createJsonWriter(context.out);
  let isEmpty = true;
  async function* texts(): AsyncGenerator<string> {
    for await (const { line, row, column, old, new: value } of changes) {
      const [before, after] = [formatStored(column, old, zone), formatStored(column, value, zone)];
      const shown = { line, row, column, old: before, new: after };
      yield isJson ? JSON.stringify(describeChange(shown)) : formatChange(shown);
      isEmpty = false;
    }
  }
  if (isJson) {
    writer.write('{\n  "changes": ');
    await writer.list(texts(), '    ');
    writer.write('\n}\n');
  } else {
    for await (const text of texts()) await writer.write(text);
    if (isEmpty) writer.write('It changed no stored value.\n');
  }
  writer.flush();
}

function declareUndo(command: Command, context: CliContext): void {
  command
    .description('remove what an import created and put back what it changed, unless something builds on it')
    .action(async (id: number, options: UndoOptions) => {
      await withLog(context, options, async (log, zone) => {
        const isJson = options.json === true;
        const isDryRun = options.dryRun === true;
        const listed = isJson ? Number.MAX_SAFE_INTEGER : SHOWN_BLOCKERS;
        const systemUser = describeUser(configOf(context, options));
        const corrections = new Set<number>();
        for (const each of await log.list()) if (each.reason !== null) corrections.add(each.id);
        const undoing = { id, isCorrection: corrections.has(id) };
        const undo = (how: { readonly isDryRun: boolean; readonly agreed?: string | undefined }) =>
          log.undo(id, listed, { systemUser, nowSeconds: nowSeconds(context.clock), ...how });
        const show = (result: UndoResult, shown: Omit<Shown, 'corrections'>) =>
          printUndo(context, undoing, result, { ...shown, corrections });
        const agreed = await confirm(context, options, async () => {
          const result = await undo({ isDryRun: true });
          if (result.outcome !== 'undone') {
            show(result, { zone, isJson, isDryRun });
            return undefined;
          }
          const plan = describeUndoing(undoing, result, 'plan');
          context.news?.({ part: 'changed', text: pack(plan) });
          tell(context, plan);
          return result.fingerprint;
        });
        const result = await undo({ isDryRun, agreed });
        if (result.outcome === 'undone' && result.fingerprint !== undefined && !isDryRun)
          throw changedMeanwhile();
        show(result, { zone, isJson, isDryRun });
        if (result.outcome === 'undone' && result.errorAfterCommit !== undefined)
          throw result.errorAfterCommit;
      });
    });
}

interface Shown {
  readonly zone: TimeZone;
  readonly isJson: boolean;
  readonly isDryRun: boolean;
  /** Their ids. */
  readonly corrections: ReadonlySet<number>;
}

function printUndo(
  context: CliContext,
  undoing: Undoing,
  result: UndoResult,
  { zone, isJson, isDryRun, corrections }: Shown,
): void {
  if (result.outcome === 'unknown') throw unknown();
  if (result.outcome === 'irreversible') throw new CommandError(EXIT.refused, 'An erasure cannot be undone.');
  if (result.outcome === 'undone_before') {
    const at = formatDateTime(result.undoneAt, zone);
    throw new CommandError(EXIT.refused, describeUndoneBefore(undoing, at));
  }
  const refusal =
    result.outcome === 'undone' ? [] : describeRefusal(undoing, result, (each) => corrections.has(each));
  for (const text of refusal) context.news?.({ part: 'fault', text: pack(text) });
  if (result.outcome === 'undone') {
    context.news?.({ part: 'changed', text: pack(describeUndoing(undoing, result, 'done')) });
  }
  if (isJson) context.out(formatJson(describeUndo(undoing.id, result, isDryRun)));
  else if (result.outcome === 'undone')
    print(context, describeUndoing(undoing, result, isDryRun ? 'dry run' : 'done'));
  else for (const line of refusal) tell(context, line);
  if (result.outcome === 'refused') throw new CommandError(EXIT.refused, '');
}
