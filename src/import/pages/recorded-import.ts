/** Page `/imports/…`: one recorded import or correction, its changes, and its undo. */

import { failure, fields, form, table, withCommands } from '../../desk/parts.ts';
import type { Screen, Shows, Visit } from '../../desk/screen.ts';
import { ENTITY_NAMES } from '../../journal/change-texts.ts';
import { writeUndone } from '../../journal/imports-text.ts';
import type { Operation } from '../../journal/operations.ts';
import { type Journal, openJournal } from '../../journal/undo.ts';
import { FILE_COLUMNS } from '../../registry/file-columns.ts';
import {
  describeMember,
  type EnteredKind,
  isEnteredKind,
  nameOf,
  referenceOf,
  writeStored,
} from '../../registry/pages/show-stored-values.ts';
import { openStoredData } from '../../registry/stored/stored-data.ts';
import type { StoredRow } from '../../registry/stored/stored-data-types.ts';
import { namedRegistry } from '../../runtime/config.ts';
import { FIELD_GROUPS } from '../../values/declared-fields.ts';
import { type Html, type HtmlValue, html } from '../../values/html.ts';
import { hideIdentityCards } from '../../values/identity-card.ts';
import { asMessage, type Message, say } from '../../values/message.ts';
import { deskFilesOf } from './desk-files.ts';
import { countFields, sentences, showingAll } from './findings.ts';
import { type CommandRun, OUTDATED, runAs } from './previews-and-runs.ts';

/** Maximum number of rows that the page shows. The page shows no rows of a larger operation. */
const MOST_SHOWN = 20;

export interface ShownRow {
  readonly memberId: number | null;
  readonly what: string;
  /** Link to the person; empty for a cooperative. */
  readonly member: HtmlValue;
  /** Current values; empty for a member or cooperative. */
  readonly values: string;
}

export function rowsOfOperation(visit: Visit, log: Journal, operation: Operation): readonly ShownRow[] {
  const rows = operation.created + operation.changed > MOST_SHOWN ? [] : log.listRows(operation.id);
  if (rows.length === 0) return [];
  const storedData = visit.use(openStoredData);
  const numbers = storedData.findNumbers(rows.flatMap(({ memberId }) => memberId ?? []));
  return rows.map(({ entity, row, memberId, values }) => {
    const label = hideIdentityCards(referenceOf({ reference: row }), visit.say('(hidden)'));
    const [member] = memberId === null ? [] : storedData.findMembers({ id: memberId });
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
const undoOf = (visit: Visit): CommandRun | undefined => deskFilesOf(visit).commands.lastOf(idOf(visit));
const pathOf = (visit: Visit): string => `/imports/${idOf(visit)}`;

const headings = (visit: Visit, ...texts: Message[]) =>
  texts.map((text) => ({ heading: visit.translate(text) }));

export const RECORDED_IMPORT: Screen = {
  path: '/imports/:import',
  title: say('One import'),
  personal: 'some',
  read(visit) {
    const log = visit.use(openJournal);
    const recorded = log.find(idOf(visit));
    if (recorded === undefined) return undefined;
    const { id, kind } = recorded;
    const undo = undoOf(visit);
    const rows = rowsOfOperation(visit, log, recorded);
    const changes = changesOf(visit, log, id, kind === 'row_enter');
    const isBusy = undo?.isAtWork === true;
    const body = html`<h1>${visit.say('{id}: {what}', { id, what: nameOf(kind) })}</h1>
${record(visit, recorded)}${
  rows.length > 0 &&
  table(
    visit.say('Rows'),
    headings(visit, say('Row'), say('Member'), say('Values now')),
    rows.map(({ what, member, values }) => [what, member, values]),
  )
}${undoing(visit, recorded, undo)}
<h2>${visit.say('Stored values that it changed')}</h2>${changes ?? html`<p>${visit.say('None.')}</p>`}
<p><a href="/import">${visit.say('All files and imports')}</a></p>`;
    const shows = changes === undefined ? showingRows(rows) : showingAll(visit);
    return { body, shows, ...(isBusy ? { refreshSeconds: 1 } : {}) };
  },
  actions: {
    plan(visit) {
      const plan = undoOf(visit);
      if (plan?.isAtWork !== true && plan?.status !== 0)
        deskFilesOf(visit).commands.startUndo(idOf(visit), runAs(visit));
      return { goTo: pathOf(visit) };
    },
    undo(visit, fields) {
      const plan = undoOf(visit);
      const goTo = pathOf(visit);
      const isVisible = plan?.isAsking === true && String(plan.id) === fields.get('plan');
      if (!isVisible || plan.user !== visit.session.user) return { goTo, told: OUTDATED };
      plan.agree();
      return { goTo };
    },
  },
};

function record(visit: Visit, recorded: Operation): Html {
  const { moment } = visit.write;
  const link = (id: number | null) => id !== null && html`<a href="/imports/${id}">${id}</a>`;
  return fields([
    [visit.say('File'), recorded.fileName],
    [visit.say('Why'), recorded.kind === 'row_enter' ? undefined : recorded.reason],
    [visit.say('What'), recorded.kind === 'row_enter' && visit.translate(nameOf(recorded.reason ?? ''))],
    [visit.say('Date and user'), `${moment(recorded.importedAt)}, ${recorded.systemUser}`],
    ...countFields(visit, recorded, recorded.refusedRows),
    [visit.say('Newer version of import'), link(recorded.replaces)],
    [visit.say('Replaced by import'), link(recorded.replacedBy)],
    [visit.say('Undone'), writeUndone(visit, recorded)],
  ]);
}

function undoing(visit: Visit, { undoneAt }: Operation, run: CommandRun | undefined): Html | false {
  const path = pathOf(visit);
  if (run?.isAtWork === true)
    return html`<p role="status">${
      run.hasAgreed ? visit.say('Undoing…') : visit.say('Preparing the undo…')
    }</p>
<progress aria-label="${visit.say('Progress')}"></progress>`;
  if (undoneAt !== null) return false;
  const ask = form(visit, { path, action: 'plan', button: visit.say('Preview the undo') });
  if (run === undefined) return ask;
  const texts = [...run.textsOf('changed'), ...run.textsOf('fault')];
  if (texts.length === 0) return html`${failure(visit, run)}${ask}`;
  // The undo is recorded under the name of the user who started the preview. Others need a new preview.
  const isPlan = run.isAsking && run.user === visit.session.user;
  return html`<section class="${run.isAsking ? 'attention' : 'refused'}" role="alert">
${isPlan && html`<p><b>${visit.say('This is a preview. Nothing is undone yet.')}</b></p>`}
${sentences(visit, texts)}</section>${
    isPlan
      ? form(visit, {
          path,
          action: 'undo',
          hidden: { plan: String(run.id) },
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
    rows.push([
      line === null || isTyped ? '' : visit.write.number(line),
      ...[hide(row), visit.translate(nameOf(column)), show(old), show(value)],
    ]);
  }
  if (rows.length === 0) return undefined;
  return html`${table(
    visit.say('Stored values that it changed'),
    [
      { heading: visit.say('Line'), isNumber: true },
      ...headings(visit, say('Row'), say('Column'), say('Before'), say('After')),
    ],
    rows,
  )}${
    isMore &&
    html`<p>${withCommands(
      visit.say('There are more: `registry imports changes {id}` lists all of them.', { id }),
      namedRegistry(visit.desk.config),
    )}</p>`
  }`;
}
