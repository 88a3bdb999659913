/** `imports`: list, show, changes and undo (docs/import-reference.md#history-and-undo). */
import type { Command } from 'commander';
import { formatDateTime } from '../../domain/values/date-time.ts';
import { pack, Written } from '../../domain/values/message.ts';
import { formatStored } from '../../import/columns/stored-values.ts';
import { nowSeconds } from '../../runtime/clock.ts';
import type { Journal, UndoResult } from '../../store/contract/journal/operations.ts';
import { recordAll } from '../persons/record-reading.ts';
import { showingNobody } from '../persons/shown-persons.ts';
import { addConfirmOptions, type ConfirmOptions, changedMeanwhile, confirm } from '../terminal/confirm.ts';
import { type CliContext, CommandError, EXIT, print, tell } from '../terminal/context.ts';
import { createJsonWriter } from '../terminal/json-writer.ts';
import { parseIdOf } from '../terminal/options.ts';
import { formatJson } from '../terminal/output.ts';
import { acting, type Run } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import { withStore } from '../terminal/with-store.ts';
import { formatChange, type ShownChange } from './history-text.ts';
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

function declareList(command: Command, context: CliContext): void {
  command.description('list the imports, the newest last').action(
    acting(context, async ({ storage, zone, show }) => {
      const all = await withStore(storage.openJournal(), (log) => log.list());
      const imports = all.map((each) => describeImport(each, zone));
      show({ imports }, formatImports(imports));
    }),
  );
}

function declareShow(command: Command, context: CliContext): void {
  command.description('show one import: its file, options and notes, and what it did').action(
    acting(context, async ({ storage, zone, show }, id: number) => {
      const found = await withStore(storage.openJournal(), (log) => log.find(id));
      if (found === undefined) throw unknown();
      const shown = describeRecord(found, zone);
      show(shown, formatImport(shown));
    }),
  );
}

function declareChanges(command: Command, context: CliContext): void {
  command.description('list each stored value that an import changed, with what it was before').action(
    acting(context, (run, id: number) =>
      withStore(run.storage.openJournal(), async (log) => {
        if (log.find(id) === undefined) throw unknown();
        await recordAll(run);
        await printChanges(run, log.listChanges(id));
      }),
    ),
  );
}

/** Streamed: there may be a million. */
async function printChanges(
  { out, options, zone }: Run,
  changes: ReturnType<Journal['listChanges']>,
): Promise<void> {
  const isJson = options.json === true;
  const writer = createJsonWriter(out);
  let isEmpty = true;
  function* shown(): Generator<ShownChange> {
    for (const { line, row, column, old, new: value } of changes) {
      const [before, after] = [formatStored(column, old, zone), formatStored(column, value, zone)];
      yield { line, row, column, old: before, new: after };
      isEmpty = false;
    }
  }
  if (isJson) {
    writer.write('{\n  "changes": ');
    await writer.list(shown(), '    ');
    writer.write('\n}\n');
  } else {
    for (const change of shown()) await writer.write(formatChange(change));
    if (isEmpty) writer.write('It changed no stored value.\n');
  }
  writer.flush();
}

function declareUndo(command: Command, context: CliContext): void {
  command
    .description('remove what an import created and put back what it changed, unless something builds on it')
    .action(
      acting(context, (run: Run<UndoOptions>, id: number) =>
        withStore(run.storage.openJournal(), (log) => undo(run, log, id)),
      ),
    );
}

async function undo(run: Run<UndoOptions>, log: Journal, id: number): Promise<void> {
  const { options, user: systemUser } = run;
  const isDryRun = options.dryRun === true;
  const listed = options.json === true ? Number.MAX_SAFE_INTEGER : SHOWN_BLOCKERS;
  const corrections = new Set<number>();
  for (const each of log.list()) if (each.reason !== null) corrections.add(each.id);
  const undoing = { id, isCorrection: corrections.has(id) };
  const perform = (how: { readonly isDryRun: boolean; readonly agreed?: string | undefined }) =>
    log.undo(id, listed, { systemUser, nowSeconds: nowSeconds(run.clock), ...how });
  const agreed = await confirm(run, options, () => {
    const result = perform({ isDryRun: true });
    if (result.outcome !== 'undone') {
      printUndo(run, undoing, result, corrections);
      return undefined;
    }
    const plan = describeUndoing(undoing, result, 'plan');
    run.news?.({ part: 'changed', text: pack(plan) });
    tell(run, plan);
    return result.fingerprint;
  });
  const result = perform({ isDryRun, agreed });
  if (result.outcome === 'undone' && result.fingerprint !== undefined && !isDryRun) throw changedMeanwhile();
  printUndo(run, undoing, result, corrections);
  if (result.outcome === 'undone' && result.errorAfterCommit !== undefined) throw result.errorAfterCommit;
}

/** @param corrections ids of all of them */
function printUndo(
  run: Run<UndoOptions>,
  undoing: Undoing,
  result: UndoResult,
  corrections: ReadonlySet<number>,
): void {
  const { options, zone, news } = run;
  const isDryRun = options.dryRun === true;
  if (result.outcome === 'unknown') throw unknown();
  if (result.outcome === 'irreversible') throw new CommandError(EXIT.refused, 'An erasure cannot be undone.');
  if (result.outcome === 'undone_before') {
    const at = new Written('moment', formatDateTime(result.undoneAt, zone));
    throw new CommandError(EXIT.refused, describeUndoneBefore(undoing, at));
  }
  const refusal =
    result.outcome === 'undone' ? [] : describeRefusal(undoing, result, (each) => corrections.has(each));
  for (const text of refusal) news?.({ part: 'fault', text: pack(text) });
  if (result.outcome === 'undone') {
    news?.({ part: 'changed', text: pack(describeUndoing(undoing, result, 'done')) });
  }
  if (options.json === true) run.out(formatJson(describeUndo(undoing.id, result, isDryRun)));
  else if (result.outcome === 'undone')
    print(run, describeUndoing(undoing, result, isDryRun ? 'dry run' : 'done'));
  else for (const line of refusal) tell(run, line);
  if (result.outcome === 'refused') throw new CommandError(EXIT.refused, '');
}
