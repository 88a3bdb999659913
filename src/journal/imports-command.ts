/** `imports`: list, show, changes and undo (docs/import-reference.md#history-and-undo). */
import type { Command } from 'commander';
import { ENTITY_NAMES, formatActor } from '../registry/changes/labels.ts';
import { formatStored } from '../registry/file-columns.ts';
import { nowSeconds } from '../runtime/scheduler.ts';
import { type CliContext, CommandError, EXIT, print, tell } from '../terminal/context.ts';
import { createJsonWriter } from '../terminal/json-writer.ts';
import { parseIdOf } from '../terminal/options.ts';
import { formatJson } from '../terminal/output.ts';
import { recordAll, showingNobody } from '../terminal/record-reading.ts';
import { acting, type Run, withStore } from '../terminal/run.ts';
import { addPrintOptions, type PrintOptions } from '../terminal/settings.ts';
import { addConfirmOptions, type ConfirmOptions, changedMeanwhile, confirm } from '../terminal/signals.ts';
import { formatDateTime } from '../values/date-time.ts';
import { hideIdentityCards } from '../values/identity-card.ts';
import { asMessage, type Message, pack, say, Written } from '../values/message.ts';
import { formatChange, type ShownChange } from './history-commands.ts';
import { describeImport, describeRecord, describeUndo, formatImport, formatImports } from './imports-text.ts';
import { openJournal } from './journal.ts';
import type { Journal, UndoBlocker, UndoResult } from './operations.ts';

// Text of an undo

type Undone = Extract<UndoResult, { outcome: 'undone' }>;
type Refused = Extract<UndoResult, { outcome: 'refused' }>;

export interface Undoing {
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
  const changes = changesOf(undoing, result);
  if (stage === 'dry run') return say('Nothing was changed. Without --dry-run: {changes}.', { changes });
  if (stage === 'plan') {
    const planned = { id, removed: result.removed, restored: result.restored };
    return isCorrection
      ? say(
          'Undoing correction {id} would remove {removed|# row|# rows} and put {restored|# row|# rows} back.',
          planned,
        )
      : say(
          'Undoing import {id} would remove {removed|# row|# rows} and put {restored|# row|# rows} back.',
          planned,
        );
  }
  const values = { id, changes, locked: (result.lockMs / 1000).toFixed(3) };
  return isCorrection
    ? say('Correction {id} is undone: {changes} (locked for {locked} s).', values)
    : say('Import {id} is undone: {changes} (locked for {locked} s).', values);
}

const describeUndoneBefore = ({ id, isCorrection }: Undoing, at: Written): Message =>
  isCorrection
    ? say('Correction {id} was undone before, at {at}.', { id, at })
    : say('Import {id} was undone before, at {at}.', { id, at });

/**
 * One line for each listed blocker, and the number of the others.
 * @param isCorrection true if the operation with the id is a correction
 */
function describeRefusal(
  undoing: Undoing,
  refused: Refused,
  isCorrection: (id: number) => boolean,
): Message[] {
  const { id } = undoing;
  const { count, blockers } = refused;
  const rest = count - blockers.length;
  return [
    undoing.isCorrection
      ? say('Nothing was undone: other rows build on correction {id}.', { id })
      : say('Nothing was undone: other rows build on import {id}.', { id }),
    ...blockers.map((blocker) => say('  {blocker}', { blocker: describeBlocker(blocker, undoing) })),
    ...(rest > 0 ? [say('  {rest} more; --json lists all of them.', { rest })] : []),
    ...firstToUndo(undoing, refused, isCorrection),
  ];
}

/** Newest first, because it may build on older ones. */
function firstToUndo(
  { id, isCorrection }: Undoing,
  { first, obstacle }: Refused,
  isCorrectionToo: (id: number) => boolean,
): Message[] {
  if (obstacle === 'erased') {
    return [
      isCorrection
        ? say('An erasure cannot be undone, and so correction {id} cannot be undone either.', { id })
        : say('An erasure cannot be undone, and so import {id} cannot be undone either.', { id }),
    ];
  }
  const operations = first.map((each, i) => {
    const operation = formatActor(`${isCorrectionToo(each) ? 'correction' : 'import'}:${each}`);
    return i === 0 ? operation : say('then {operation}', { operation });
  });
  return [
    ...(operations.length === 0 ? [] : [say('Undo {operations} first.', { operations })]),
    ...(obstacle === null
      ? []
      : [say('What no import has written cannot be undone: correct the rows of the file instead.')]),
  ];
}

/** The colliding value is one that must be unique in a cooperative. */
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

function describeBlocker(
  { kind, row: name, reason, actor }: UndoBlocker,
  { isCorrection }: Undoing,
): Message {
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

/** Limit of blockers shown; the rest is only counted. */
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
      const all = await withStore(openJournal(storage), (log) => log.list());
      const imports = all.map((each) => describeImport(each, zone));
      show({ imports }, formatImports(imports));
    }),
  );
}

function declareShow(command: Command, context: CliContext): void {
  command.description('show one import: its file, options and notes, and what it did').action(
    acting(context, async ({ storage, zone, show }, id: number) => {
      const found = await withStore(openJournal(storage), (log) => log.find(id));
      if (found === undefined) throw unknown();
      const shown = describeRecord(found, zone);
      show(shown, formatImport(shown));
    }),
  );
}

function declareChanges(command: Command, context: CliContext): void {
  command.description('list each stored value that an import changed, with what it was before').action(
    acting(context, (run, id: number) =>
      withStore(openJournal(run.storage), async (log) => {
        if (log.find(id) === undefined) throw unknown();
        await recordAll(run);
        await printChanges(run, log.listChanges(id));
      }),
    ),
  );
}

/** Streamed: there may be a million changes. */
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
        withStore(openJournal(run.storage), (log) => undo(run, log, id)),
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

/** @param corrections ids of all corrections */
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
