/** `/imports/…`: one recorded import, its changes, and its undo. */

import { failure, fields, form, table, withCommands } from '../../desk/parts.ts';
import type { Screen, Shows, Visit } from '../../desk/screen.ts';
import { writeUndone } from '../../journal/imports-text.ts';
import { type Journal, openJournal } from '../../journal/journal.ts';
import type { Operation } from '../../journal/operations.ts';
import { ENTITY_NAMES } from '../../registry/changes/labels.ts';
import { FILE_COLUMNS } from '../../registry/file-columns.ts';
import {
  describeMember,
  type EnteredKind,
  isEnteredKind,
  nameOf,
  referenceOf,
  writeStored,
} from '../../registry/pages/stored-values.ts';
import { openStoredData } from '../../registry/stored/stored-data.ts';
import type { StoredRow } from '../../registry/stored/stored-data-types.ts';
import { FIELD_GROUPS } from '../../values/declared-fields.ts';
import { type Html, type HtmlValue, html } from '../../values/html.ts';
import { hideIdentityCards } from '../../values/identity-card.ts';
import { asMessage, say } from '../../values/message.ts';
import { type CommandRun, runAs } from './command-run.ts';
import { deskFilesOf } from './desk-files.ts';
import { sentences, showingAll } from './findings.ts';

// The rows of a small operation, with their members and current values

/** The rows of larger operations are described by their file or reason. */
const MOST_SHOWN = 20;

export interface ShownRow {
  readonly memberId: number | null;
  readonly what: string;
  /** Link to the person; empty for a cooperative. */
  readonly member: HtmlValue;
  /** Empty for a member. */
  readonly values: string;
}

export function rowsOfOperation(visit: Visit, log: Journal, operation: Operation): readonly ShownRow[] {
  const rows = operation.created + operation.changed > MOST_SHOWN ? [] : log.listRows(operation.id);
  if (rows.length === 0) return [];
  const held = visit.use((storage) => openStoredData(storage));
  const numbers = held.findNumbers(rows.flatMap(({ memberId }) => memberId ?? []));
  return rows.map(({ entity, row, memberId, values }) => {
    const label = hideIdentityCards(referenceOf({ reference: row }), visit.say('(hidden)'));
    const [member] = memberId === null ? [] : held.findMembers({ id: memberId });
    const name = member && describeMember(member);
    const number = numbers.get(Number(memberId));
    return {
      memberId,
      what: `${visit.translate(asMessage(ENTITY_NAMES[entity]))} ${label}`.trim(),
      member:
        number === undefined ? name : html`<a href="/person/${visit.session.persons.of(number)}">${name}</a>`,
      values: isEnteredKind(entity) && entity !== 'members' ? valuesOf(visit, entity, values) : '',
    };
  });
}

const valuesOf = (visit: Visit, kind: EnteredKind, row: StoredRow): string =>
  FILE_COLUMNS[kind]
    .flatMap(({ name, field, role }) =>
      ['reference', 'member_code'].includes(name) || role === 'compared'
        ? []
        : (writeStored(visit, name, row[name] ?? row[field.name]) ?? []),
    )
    .join(' · ');

export function showingRows(rows: readonly ShownRow[]): Shows | 'nobody' {
  const memberIds = [...new Set(rows.flatMap(({ memberId }) => memberId ?? []))];
  return memberIds.length === 0 ? 'nobody' : { fields: FIELD_GROUPS, subject: { memberIds } };
}

const SHOWN_CHANGES = 200;

const idOf = ({ places }: Visit): number => Number(places.import);

export const RECORDED_IMPORT: Screen = {
  path: '/imports/:import',
  title: say('One import'),
  personal: 'some',
  async read(visit) {
    const log = visit.use((storage) => openJournal(storage));
    const found = log.find(idOf(visit));
    if (found === undefined) return undefined;
    const undo = deskFilesOf(visit).commands.undoOf(found.id);
    const rows = rowsOfOperation(visit, log, found);
    const changes = changesOf(visit, log, found.id, found.kind === 'row_enter');
    const isBusy = undo?.isAtWork === true;
    const body = html`<h1>${visit.say('{id}: {what}', {
      id: found.id,
      what: visit.translate(nameOf(found.kind)),
    })}</h1>
${record(visit, found)}${
  rows.length > 0 &&
  table(
    visit.say('Its rows'),
    [say('Row'), say('Member'), say('Values now')].map((text) => ({ heading: visit.translate(text) })),
    rows.map(({ what, member, values }) => [what, member, values]),
  )
}${undoing(visit, found, undo)}
<h2>${visit.say('Stored values that it changed')}</h2>${changes ?? html`<p>${visit.say('None.')}</p>`}
<p><a href="/import">${visit.say('All files and imports')}</a></p>`;
    const shows = changes === undefined ? showingRows(rows) : await showingAll(visit);
    return { body, shows, ...(isBusy ? { refreshSeconds: 1 } : {}) };
  },
  actions: {
    plan(visit) {
      const known = deskFilesOf(visit).commands.undoOf(idOf(visit));
      if (known?.isAtWork !== true && known?.status !== 0)
        deskFilesOf(visit).commands.startUndo(idOf(visit), runAs(visit));
      return { goTo: `/imports/${idOf(visit)}` };
    },
    undo(visit, given) {
      const plan = deskFilesOf(visit).commands.undoOf(idOf(visit));
      const goTo = `/imports/${idOf(visit)}`;
      const isSeen = plan?.isAsking === true && String(plan.id) === given.get('plan');
      if (!isSeen || plan.user !== visit.session.user)
        return { goTo, told: say('Something has changed meanwhile. Look at it again.') };
      plan.agree();
      return { goTo };
    },
  },
};

function record(visit: Visit, found: Operation): Html {
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

function undoing(visit: Visit, { id, undoneAt }: Operation, run: CommandRun | undefined): Html | false {
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
  // The undo is recorded under the user who has asked, so another user needs a plan of their own.
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

/** @returns undefined if the import changed no values */
function changesOf(visit: Visit, log: Journal, id: number, isTyped: boolean): Html | undefined {
  const rows: (readonly string[])[] = [];
  let isMore = false;
  for (const { line, row, column, old, new: value } of log.listChanges(id)) {
    isMore = rows.length === SHOWN_CHANGES;
    if (isMore) break;
    const hide = (text: string) => hideIdentityCards(text, visit.say('(hidden)'));
    const show = (stored: typeof old) => hide(writeStored(visit, column, stored) ?? '');
    const shown = [hide(row), visit.translate(nameOf(column)), show(old), show(value)];
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
