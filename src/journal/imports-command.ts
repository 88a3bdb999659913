/** `imports`: list, show, changes and undo (docs/import-reference.md#history-and-undo). */
import type { Command } from 'commander';
import { formatStored } from '../registry/file-columns.ts';
import { nowSeconds } from '../runtime/scheduler.ts';
import { addConfirmOptions, type ConfirmOptions, changedMeanwhile, confirm } from '../terminal/confirm.ts';
import { type CliContext, CommandError, EXIT, print, tell } from '../terminal/context.ts';
import { parseIdOf } from '../terminal/options.ts';
import { createJsonWriter, formatJson } from '../terminal/output.ts';
import { recordAll, showingNobody } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import { formatDateTime } from '../values/date-time.ts';
import { hideIdentityCards } from '../values/identity-card.ts';
import { asMessage, type Message, pack, say, Written } from '../values/message.ts';
import { ENTITY_NAMES, formatActor } from './change-texts.ts';
import { describeImport, formatImport, formatImports } from './imports-text.ts';
import { type Journal, openJournal, type RecordedChange, type UndoResult } from './undo.ts';
import type { UndoBlocker } from './undo-blockers.ts';

type Undone = Extract<UndoResult, { outcome: 'undone' }>;

interface Undoing {
  readonly id: number;
  readonly isCorrection: boolean;
}

const changesOf = ({ isCorrection }: Undoing, { removed, restored }: Undone): readonly Message[] =>
  isCorrection
    ? [
        ...(removed === 0 ? [] : [say('{n|# added row|# added rows} removed', { n: removed })]),
        say('{n|# changed or removed row|# changed or removed rows} put back', { n: restored }),
      ]
    : [say('{n|# row|# rows} removed', { n: removed }), say('{n} put back as they were', { n: restored })];

function describeUndoing(undoing: Undoing, result: Undone, stage: 'plan' | 'dry run' | 'done'): Message {
  const { id, isCorrection } = undoing;
  const { removed, restored } = result;
  const changes = changesOf(undoing, result);
  if (stage === 'dry run') return say('Nothing was changed. Without --dry-run: {changes}.', { changes });
  if (stage === 'plan')
    return isCorrection
      ? say(
          'Undoing correction {id} would remove {removed|# row|# rows} and put {restored|# row|# rows} back.',
          { id, removed, restored },
        )
      : say('Undoing import {id} would remove {removed|# row|# rows} and put {restored|# row|# rows} back.', {
          id,
          removed,
          restored,
        });
  const values = { id, changes, locked: (result.lockMs / 1000).toFixed(3) };
  return isCorrection
    ? say('Correction {id} is undone: {changes} (locked for {locked} s).', values)
    : say('Import {id} is undone: {changes} (locked for {locked} s).', values);
}

function describeRefusal(
  log: Journal,
  { id, isCorrection }: Undoing,
  { count, blockers, first, obstacle }: Extract<UndoResult, { outcome: 'refused' }>,
): Message[] {
  const rest = count - blockers.length;
  const lines = [
    isCorrection
      ? say('Nothing was undone: other rows build on correction {id}.', { id })
      : say('Nothing was undone: other rows build on import {id}.', { id }),
    ...blockers.map((blocker) => say('  {blocker}', { blocker: describeBlocker(blocker, isCorrection) })),
    ...(rest > 0 ? [say('  {rest} more; --json lists all of them.', { rest })] : []),
  ];
  if (obstacle === 'erased') {
    const values = { id };
    return [
      ...lines,
      isCorrection
        ? say('An erasure cannot be undone, and so correction {id} cannot be undone either.', values)
        : say('An erasure cannot be undone, and so import {id} cannot be undone either.', values),
    ];
  }
  // The newest operation must be undone first, because it may build on older operations.
  const operations = first.map((blocking) => formatActor(`${kindOf(log, blocking)}:${blocking}`));
  const [operation] = operations;
  if (operations.length > 1) lines.push(say('First undo, in this order: {operations}.', { operations }));
  else if (operation !== undefined) lines.push(say('First undo {operation}.', { operation }));
  if (obstacle !== null)
    lines.push(say('Only rows written by an import can be undone: correct the rows of the file instead.'));
  return lines;
}

/** Only corrections have a reason. */
const kindOf = (log: Journal, id: number): 'correction' | 'import' =>
  (log.find(id)?.reason ?? null) === null ? 'import' : 'correction';

function describeTaken(kind: UndoBlocker['kind'], values: { row: Message; by: Message }): Message {
  switch (kind) {
    case 'cooperatives':
      return say('{row}, from {by}, has a code that would be put back', values);
    case 'members':
      return say('{row}, from {by}, has a member code or national ID that would be put back', values);
    case 'accounts':
      return say('{row}, from {by}, has an account number that would be put back', values);
    default:
      return say('{row}, from {by}, has a reference that would be put back', values);
  }
}

function describeBlocker({ kind, row: name, reason, actor }: UndoBlocker, isCorrection: boolean): Message {
  const row = say('{entity} {name}', {
    entity: asMessage(ENTITY_NAMES[kind]),
    name: hideIdentityCards(name),
  });
  const by = formatActor(actor);
  if (reason === 'changed') return say('{row} was changed since, by {by}', { row, by });
  if (reason === 'erased') {
    return kind === 'members'
      ? say('a member was erased since, by {by}', { by })
      : say('{row} belongs to a person who was erased since, by {by}', { row, by });
  }
  if (reason === 'replaced') return say('it was replaced, by {by}', { by });
  if (reason === 'overpaid')
    return say('{row} would have more than 12 digits paid: payments would count again', { row });
  if (reason === 'taken') return describeTaken(kind, { row, by });
  return isCorrection
    ? say('{row}, from {by}, belongs to a row that the correction created', { row, by })
    : say('{row}, from {by}, belongs to a row that the import created', { row, by });
}

type UndoOptions = PrintOptions & ConfirmOptions;

const SHOWN_BLOCKERS = 20;

export function declareImports(imports: Command, context: CliContext): void {
  addPrintOptions(showingNobody(imports.command('list')))
    .description('list the imports, newest last')
    .action(
      acting(context, async ({ storage, zone, show }) => {
        const operations = await withStore(openJournal(storage), (log) => log.list());
        const described = operations.map((operation) => describeImport(operation, zone));
        show({ imports: described }, formatImports(described));
      }),
    );
  addPrintOptions(addId(showingNobody(imports.command('show'))))
    .description('show one import: its file, options, notes and effects')
    .action(
      acting(context, async ({ storage, zone, show }, id: number) => {
        const operation = await withStore(openJournal(storage), (log) => log.find(id));
        if (operation === undefined) throw unknown();
        const { map, options, notes } = operation;
        const described = describeImport(operation, zone);
        show({ ...described, map, options, notes }, formatImport(operation, described));
      }),
    );
  addPrintOptions(addId(imports.command('changes')), 'REGISTRY_USER')
    .description('list each stored value that an import changed, with its value before')
    .action(
      acting(context, (run, id: number) =>
        withStore(openJournal(run.storage), async (log) => {
          if (log.find(id) === undefined) throw unknown();
          await recordAll(run);
          await printChanges(run, log.listChanges(id));
        }),
      ),
    );
  addConfirmOptions(addPrintOptions(addId(showingNobody(imports.command('undo'))), 'REGISTRY_USER'))
    .description(
      'remove the rows that an import created and restore those that it changed, unless others build on them',
    )
    .action(
      acting(context, (run: Run<UndoOptions>, id: number) =>
        withStore(openJournal(run.storage), (log) => undo(run, log, id)),
      ),
    );
}

const addId = (command: Command) =>
  command.argument('<id>', 'id of the import', parseIdOf('an import, as `imports list`'));

const unknown = () =>
  new CommandError(EXIT.refused, 'There is no import with this id. `imports list` shows all.');

type PrintedChange = Omit<RecordedChange, 'old' | 'new'> & Readonly<Record<'old' | 'new', string | null>>;

function formatChange({ line, row, column, old, new: value }: PrintedChange): string {
  const write = (text: string | null) => hideIdentityCards(text ?? '(empty)');
  const place = `${line === null ? '' : `line ${line}, `}${hideIdentityCards(row)}, ${column}`;
  // The change that stands for the removal of a row has no values.
  return old === null && value === null ? `${place}\n` : `${place}: ${write(old)} → ${write(value)}\n`;
}

/** Prints changes one by one, because an import may have a million of them. */
async function printChanges(
  { out, options, zone }: Run,
  changes: ReturnType<Journal['listChanges']>,
): Promise<void> {
  const writer = createJsonWriter(out);
  let isEmpty = true;
  function* printed() {
    for (const { column, old, new: value, ...place } of changes) {
      yield {
        ...place,
        column,
        old: formatStored(column, old, zone),
        new: formatStored(column, value, zone),
      };
      isEmpty = false;
    }
  }
  if (options.json === true) {
    writer.write('{\n  "changes": ');
    await writer.list(printed(), '    ');
    writer.write('\n}\n');
  } else {
    for (const change of printed()) await writer.write(formatChange(change));
    if (isEmpty) writer.write('It changed no stored value.\n');
  }
  writer.flush();
}

async function undo(run: Run<UndoOptions>, log: Journal, id: number): Promise<void> {
  const { options, user: systemUser } = run;
  const isDryRun = options.dryRun === true;
  const listed = options.json === true ? Number.MAX_SAFE_INTEGER : SHOWN_BLOCKERS;
  const undoing = { id, isCorrection: kindOf(log, id) === 'correction' };
  const perform = (how: { readonly isDryRun: boolean; readonly agreed?: string | undefined }) =>
    log.undo(id, listed, { systemUser, nowSeconds: nowSeconds(run.clock), ...how });
  const agreed = await confirm(run, options, () => {
    const result = perform({ isDryRun: true });
    if (result.outcome !== 'undone') throw refused(run, log, undoing, result);
    const plan = describeUndoing(undoing, result, 'plan');
    run.news?.({ part: 'changed', text: pack(plan) });
    tell(run, plan);
    return result.fingerprint;
  });
  const result = perform({ isDryRun, agreed });
  if (result.outcome !== 'undone') throw refused(run, log, undoing, result);
  const { outcome, removed, restored, fingerprint, lockMs, errorAfterCommit } = result;
  if (fingerprint !== undefined && !isDryRun) throw changedMeanwhile();
  run.news?.({ part: 'changed', text: pack(describeUndoing(undoing, result, 'done')) });
  if (options.json === true) {
    const lockSeconds = Number((lockMs / 1000).toFixed(3));
    const document = { id, outcome, dry_run: isDryRun, removed, restored, lock_seconds: lockSeconds };
    run.out(formatJson(document));
  } else print(run, describeUndoing(undoing, result, isDryRun ? 'dry run' : 'done'));
  if (errorAfterCommit !== undefined) throw errorAfterCommit;
}

/** Prints the blockers of a refused undo, and returns the error to throw. */
function refused(
  run: Run<UndoOptions>,
  log: Journal,
  undoing: Undoing,
  result: Exclude<UndoResult, Undone>,
): CommandError {
  const { options, zone, news } = run;
  const { id, isCorrection } = undoing;
  if (result.outcome === 'unknown') return unknown();
  if (result.outcome === 'irreversible')
    return new CommandError(EXIT.refused, 'An erasure cannot be undone.');
  if (result.outcome === 'undone_before') {
    const at = new Written('moment', formatDateTime(result.undoneAt, zone));
    const message = isCorrection
      ? say('Correction {id} was undone before, at {at}.', { id, at })
      : say('Import {id} was undone before, at {at}.', { id, at });
    return new CommandError(EXIT.refused, message);
  }
  const lines = describeRefusal(log, undoing, result);
  for (const line of lines) news?.({ part: 'fault', text: pack(line) });
  if (options.json === true) {
    const { outcome, count, blockers, first } = result;
    const document = { id, outcome, dry_run: options.dryRun === true, count, blockers, undo_first: first };
    run.out(formatJson(document));
  } else for (const line of lines) tell(run, line);
  return new CommandError(EXIT.refused, '');
}
