/** `/imports/…`: one import as it is recorded, what it changed, and its undo. */
import { ENTITY_NAMES } from '../../../app/wording/entity-names.ts';
import { hideIdentityCards } from '../../../domain/membership/identity-card.ts';
import { asMessage, say } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import { FIELD_GROUPS } from '../../../store/contract/access-ledger.ts';
import { FILE_COLUMNS } from '../../../store/contract/import/import-columns.ts';
import type { HeldMembership, HeldRow } from '../../../store/contract/journal/held-data.ts';
import type { Journal, OperatedRow, RecordedImport } from '../../../store/contract/journal/operations.ts';
import type { CommandRun } from '../../importing/command-run.ts';
import { withCommands } from '../../page/commands.ts';
import type { EnteredKind } from '../../page/entered-kinds.ts';
import { ownersOf, ROWS_OF, textOf } from '../../page/held-values.ts';
import { nameOf } from '../../page/names.ts';
import { fields, form, table } from '../../page/parts.ts';
import { failure, runAs } from '../../page/under-way.ts';
import { writeStored, writeUndone } from '../../page/write-stored.ts';
import type { Screen, Shows, Visit } from '../../visit/screen.ts';
import { sentences } from './findings.ts';
import { showingAll } from './showing-all.ts';

const SHOWN_CHANGES = 200;
/** Of an operation of more rows, its file or its reason says what they are. */
const SHOWN_ROWS = 20;

const idOf = ({ places }: Visit): number => Number(places.import);

export const RECORDED_IMPORT: Screen = {
  path: '/imports/:import',
  title: say('One import'),
  personal: 'some',
  async read(visit) {
    const log = visit.use((storage) => storage.openJournal());
    const found = log.find(idOf(visit));
    if (found === undefined) return undefined;
    const undo = visit.desk.files.commands.undoOf(found.id);
    const rows = found.created + found.changed > SHOWN_ROWS ? [] : log.listRows(found.id);
    const changes = changesOf(visit, log, found.id, found.kind === 'row_enter');
    const isBusy = undo?.isAtWork === true;
    const body = html`<h1>${visit.say('{id}: {what}', {
      id: found.id,
      what: visit.translate(nameOf(found.kind)),
    })}</h1>
${record(visit, found)}${rows.length > 0 && rowsTable(visit, rows)}${undoing(visit, found, undo)}
<h2>${visit.say('Stored values that it changed')}</h2>${changes ?? html`<p>${visit.say('None.')}</p>`}
<p><a href="/import">${visit.say('All files and imports')}</a></p>`;
    const shows = changes === undefined ? showingRows(rows) : await showingAll(visit);
    return { body, shows, ...(isBusy ? { refreshSeconds: 1 } : {}) };
  },
  actions: {
    plan(visit) {
      const known = visit.desk.files.commands.undoOf(idOf(visit));
      if (known?.isAtWork !== true && known?.status !== 0)
        visit.desk.files.commands.startUndo(idOf(visit), runAs(visit));
      return { goTo: `/imports/${idOf(visit)}` };
    },
    undo(visit, given) {
      const plan = visit.desk.files.commands.undoOf(idOf(visit));
      const goTo = `/imports/${idOf(visit)}`;
      const isSeen = plan?.isAsking === true && String(plan.id) === given.get('plan');
      if (!isSeen || plan.user !== visit.session.user)
        return { goTo, told: say('Something has changed meanwhile. Look at it again.') };
      plan.agree();
      return { goTo };
    },
  },
};

function record(visit: Visit, found: RecordedImport): Html {
  const { number, moment } = visit.write;
  const link = (id: number | null) => id !== null && html`<a href="/imports/${id}">${id}</a>`;
  return fields([
    [visit.say('File'), found.fileName],
    [visit.say('Why'), found.kind === 'row_enter' ? undefined : found.reason],
    [visit.say('What'), found.kind === 'row_enter' && visit.translate(nameOf(found.reason ?? ''))],
    [visit.say('When, and by whom'), `${moment(found.importedAt)}, ${found.systemUser}`],
    [visit.say('New'), number(found.created)],
    [visit.say('Changed'), number(found.changed)],
    [visit.say('Unchanged'), number(found.unchanged)],
    [visit.say('Removed'), found.removed > 0 && number(found.removed)],
    [visit.say('Values kept'), found.kept > 0 && number(found.kept)],
    [visit.say('Refused'), found.refusedRows > 0 && number(found.refusedRows)],
    [visit.say('Newer version of import'), link(found.replaces)],
    [visit.say('Replaced by import'), link(found.replacedBy)],
    [visit.say('Undone'), writeUndone(visit, found)],
  ]);
}

/** Each row with whose it is and what it says now. */
function rowsTable(visit: Visit, rows: readonly OperatedRow[]): Html {
  const held = visit.use((storage) => storage.openHeldData());
  const numbers = held.findNumbers(rows.flatMap(({ memberId }) => memberId ?? []));
  return table(
    visit.say('Its rows'),
    [say('Row'), say('Member'), say('Values')].map((text) => ({ heading: visit.translate(text) })),
    rows.map(({ entity, id, row, memberId }) => {
      const membership = memberId === null ? undefined : held.findMembership(memberId);
      const stored = membership && ROWS_OF[entity]?.(membership).find((each) => each.id === id);
      const what = `${visit.translate(asMessage(ENTITY_NAMES[entity]))} ${hideIdentityCards(row)}`;
      if (membership === undefined || stored === undefined) return [what, '', ''];
      const { member } = membership;
      const name = ['cooperative', 'member_code', 'full_name'].map((field) => textOf(member, field));
      const number = numbers.get(Number(memberId));
      return [
        what,
        number === undefined
          ? name.join(' · ')
          : html`<a href="/person/${visit.session.persons.of(number)}">${name.join(' · ')}</a>`,
        entity === 'members' ? '' : valuesOf(visit, entity as EnteredKind, membership, stored),
      ];
    }),
  );
}

function valuesOf(visit: Visit, kind: EnteredKind, of: HeldMembership, row: HeldRow): string {
  const { loan_reference: loan } = ownersOf(kind, of, row);
  const values = FILE_COLUMNS[kind].flatMap(({ name, field, role }) =>
    ['reference', 'member_code'].includes(name) || role === 'compared'
      ? []
      : (writeStored(visit, name, row[field.name]) ?? []),
  );
  return [...(loan === undefined ? [] : [loan]), ...values].join(' · ');
}

function showingRows(rows: readonly OperatedRow[]): Shows | 'nobody' {
  const memberIds = [...new Set(rows.flatMap(({ memberId }) => memberId ?? []))];
  return memberIds.length === 0 ? 'nobody' : { fields: FIELD_GROUPS, subject: { memberIds } };
}

function undoing(visit: Visit, { id, undoneAt }: RecordedImport, run: CommandRun | undefined): Html | false {
  const path = `/imports/${id}`;
  if (run?.isAtWork === true)
    return html`<p role="status">${
      run.hasAgreed
        ? visit.say('The undo is at work…')
        : visit.say('What the undo would change is looked up…')
    }</p>
<progress aria-label="${visit.say('Progress')}"></progress>`;
  if (undoneAt !== null) return false;
  const ask = form(visit, {
    path,
    action: 'plan',
    body: '',
    button: visit.say('Undo it: show first what that changes'),
  });
  if (run === undefined) return ask;
  const told = [...run.textsOf('changed'), ...run.textsOf('fault')];
  if (told.length === 0) return html`${failure(visit, run)}${ask}`;
  // Another user asks for a plan of their own: the undo is recorded under whoever has asked.
  const isPlan = run.isAsking && run.user === visit.session.user;
  return html`<section class="${run.isAsking ? 'attention' : 'refused'}" role="alert">
${isPlan && html`<p><b>${visit.say('The undo is planned. Nothing is undone yet.')}</b></p>`}
${sentences(visit, told)}</section>${
    isPlan
      ? form(visit, {
          path,
          action: 'undo',
          hidden: { plan: String(run.id) },
          body: '',
          button: visit.say('Undo it'),
          look: 'danger',
        })
      : ask
  }`;
}

/** @returns undefined when it changed none */
function changesOf(visit: Visit, log: Journal, id: number, isTyped: boolean): Html | undefined {
  const rows: (readonly string[])[] = [];
  let isMore = false;
  for (const { line, row, column, old, new: value } of log.listChanges(id)) {
    isMore = rows.length === SHOWN_CHANGES;
    if (isMore) break;
    const show = (stored: typeof old) => hideIdentityCards(writeStored(visit, column, stored) ?? '');
    const shown = [hideIdentityCards(row), visit.translate(nameOf(column)), show(old), show(value)];
    rows.push([line === null || isTyped ? '' : visit.write.number(line), ...shown]);
  }
  if (rows.length === 0) return undefined;
  return html`${table(
    visit.say('Stored values that it changed'),
    [
      { heading: visit.say('Line'), isNumber: true },
      ...[say('Row'), say('Column'), say('Before'), say('After')].map((text) => ({
        heading: visit.translate(text),
      })),
    ],
    rows,
  )}${
    isMore &&
    html`<p>${withCommands(
      visit.say('There are more: `registry imports changes {id}` lists all of them.', { id }),
    )}</p>`
  }`;
}
