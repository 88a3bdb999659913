/**
 * Entering and changing one row at the desk (docs/desk.md#entering-by-hand): a form, then what the row would
 * do, then the row is written as if a file had it.
 */
import { randomBytes } from 'node:crypto';
import { formatDate } from '../../../domain/values/date-time.ts';
import { NOW } from '../../../domain/values/declared-fields.ts';
import { type Message, say, type Text } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import { formatStored, kindOf } from '../../../import/columns/stored-values.ts';
import { type Entered, enterRow, type RowFault, type RowPlan } from '../../../import/run/enter-row.ts';
import { FILE_COLUMNS } from '../../../store/contract/import/import-columns.ts';
import type { ImportKind, StagedValue } from '../../../store/contract/import/import-session.ts';
import { nameOf } from '../../page/names.ts';
import { fields, form as formOf, table } from '../../page/parts.ts';
import { writeStored } from '../../page/write-stored.ts';
import type { Answer, Form, Page, Screen, Shows, Visit } from '../../visit/screen.ts';
import { askedColumns, labelOf, otherFaults, rowFields, type Texts } from './row-form.ts';

/** One row that a page enters or changes. */
export interface Entering {
  readonly kind: ImportKind;
  readonly heading: Message;
  /** The path of the page. */
  readonly path: string;
  /** The page that it was begun on, and goes on with. */
  readonly back: string;
  /** Where it goes on, if not there. @param given what was typed */
  readonly next?: (given: Texts) => string;
  /** Columns that the page settles: what the row belongs to, or which stored row it is. */
  readonly settled: Texts;
  /** Of a stored row, as a file would have them. */
  readonly stored?: Texts;
  /** Of a new row, as the fields begin. */
  readonly initial?: Texts;
  /** Whether a new row of which nothing warns is entered at once. */
  readonly isDirect?: boolean;
  /** What people call that of which the row is, such as a member with the name. */
  readonly whose?: (values: Texts) => string | undefined;
  /** Whom the row tells of. @param values of all columns */
  readonly shows: (values: Texts) => Shows | 'nobody';
}

/** @param find undefined where the page is of nothing that is there */
export const enteringScreen = (
  { path, title }: Pick<Screen, 'path' | 'title'>,
  find: (visit: Visit) => Promise<Entering | undefined> | Entering | undefined,
): Screen => ({
  path,
  title,
  personal: 'some',
  async read(visit) {
    const entering = await find(visit);
    if (entering === undefined) return undefined;
    const { stored, initial, settled } = entering;
    const typed = stored === undefined ? (initial ?? {}) : shownTexts(stored);
    const body = page(visit, entering, typed, {});
    return { body, shows: stored === undefined ? 'nobody' : entering.shows({ ...stored, ...settled }) };
  },
  actions: {
    async enter(visit, given) {
      const entering = await find(visit);
      return entering && enter(visit, entering, given);
    },
    async correct(visit, given) {
      const entering = await find(visit);
      if (entering === undefined) return undefined;
      const typed = typedOf(entering, given);
      return {
        body: page(visit, entering, typed, {}),
        shows: entering.shows({ ...typed, ...entering.settled }),
      };
    },
  },
});

const typedOf = ({ kind, settled }: Entering, form: Form): { [column: string]: string } =>
  Object.fromEntries(askedColumns(kind, settled).map(({ name }) => [name, form.get(name)]));

async function enter(visit: Visit, entering: Entering, form: Form): Promise<Answer> {
  const { kind } = entering;
  const typed = typedOf(entering, form);
  if (form.get('again') === 'yes') typed.reference ||= newReference(visit);
  const values = rowOf(entering, typed);
  const shows = entering.shows(Object.fromEntries(values));
  const expected = form.get('expected');
  const entered = await enterRow(
    visit.use((storage) => storage.openImportSession('import')),
    { kind, values },
    {
      zone: visit.desk.config.zone,
      clock: visit.desk.clock,
      systemUser: visit.session.user,
      ...(expected === '' ? {} : { agreed: expected }),
      isDirect: entering.isDirect === true,
    },
  );
  if (entered.outcome === 'entered') {
    const { next, back } = entering;
    const told = tellOf(visit, entering, entered.plan, Object.fromEntries(values));
    return { goTo: next?.(typed) ?? back, told, operationId: entered.operationId, shows };
  }
  return answer(visit, entering, { typed, values, expected, shows }, entered);
}

interface Given {
  readonly typed: Texts;
  readonly values: ReadonlyMap<string, string>;
  readonly expected: string;
  readonly shows: Shows | 'nobody';
}

function answer(
  visit: Visit,
  entering: Entering,
  { typed, values, expected, shows }: Given,
  entered: Exclude<Entered, { outcome: 'entered' }>,
): Page {
  if (entered.outcome === 'refused')
    return { body: page(visit, entering, typed, { faults: entered.faults }), shows, status: 422 };
  if (entered.outcome === 'failed')
    return { body: page(visit, entering, typed, { told: entered.message }), shows, status: 503 };
  const { plan } = entered;
  if (plan.changes.created + plan.changes.changed === 0) {
    const asksAgain = entering.stored === undefined && typed.reference === '';
    return { body: page(visit, entering, typed, { told: NOTHING_NEW, asksAgain }), shows };
  }
  // Who enters a new row does not mean to change another one.
  if (entering.stored === undefined && plan.changes.changed > 0)
    return { body: page(visit, entering, typed, { told: EXISTS, stored: plan }), shows, status: 409 };
  const isOther = expected !== '' && expected !== plan.fingerprint;
  return { body: planned(visit, entering, { typed, values, plan, isOther }), shows };
}

const NOTHING_NEW = say('This is stored already, and nothing would change.');
const EXISTS = say('There is one already, with other values. Change it on its own page.');
const OTHER = say('Something has changed meanwhile. Look at it again.');

interface Around {
  readonly faults?: readonly RowFault[];
  readonly told?: Text;
  /** Whether the row may be entered once more, as another one. */
  readonly asksAgain?: boolean;
  /** What would become of a row that is there. */
  readonly stored?: RowPlan;
}

function page(
  visit: Visit,
  { kind, heading, path, back, settled, stored, whose }: Entering,
  typed: Texts,
  { faults = [], told, asksAgain, stored: existing }: Around,
): Html {
  const sentences = [
    ...(told === undefined ? [] : [visit.translate(told)]),
    ...otherFaults(visit, kind, settled, faults),
  ];
  const of = whose?.({ ...stored, ...settled });
  return html`<h1>${visit.translate(heading)}</h1>
${of !== undefined && html`<p>${of}</p>`}
${
  (sentences.length > 0 || faults.length > 0) &&
  html`<section class="refused" role="alert">${sentences.map((each) => html`<p>${each}</p>`)}${
    faults.length > 0 && html`<p>${visit.say('Nothing was entered. What is wrong is beside the fields.')}</p>`
  }${existing !== undefined && changed(visit, existing, visit.say('Stored'), visit.say('Typed'))}</section>`
}
<div class="narrow">${formOf(visit, {
    path,
    action: 'enter',
    body: html`${rowFields(visit, kind, settled, typed, faults)}${
      asksAgain === true &&
      html`<label class="tick"><input type="checkbox" name="again" value="yes">
${visit.say('It is another one like it: enter it once more.')}</label>`
    }`,
    button: stored === undefined ? visit.say('Enter') : visit.say('Show what would be changed'),
  })}<p><a href="${back}">${visit.say('Back')}</a></p></div>`;
}

interface Planned {
  readonly typed: Texts;
  readonly values: ReadonlyMap<string, string>;
  readonly plan: RowPlan;
  readonly isOther: boolean;
}

function planned(visit: Visit, entering: Entering, { typed, values, plan, isOther }: Planned): Html {
  const { heading, path, back, whose } = entering;
  const warned = plan.warnings.map((text) => html`<p>${visit.translate(text)}</p>`);
  const of = whose?.(Object.fromEntries(values));
  return html`<h1>${visit.translate(heading)}</h1>
${of !== undefined && html`<p>${of}</p>`}
${isOther && html`<p class="refused" role="alert">${visit.translate(OTHER)}</p>`}
${warned.length > 0 && html`<section class="attention" role="alert">${warned}</section>`}
<section class="card"><p>${
    plan.changes.created > 0 ? visit.say('This would be entered:') : visit.say('This would be changed:')
  }</p>${
    plan.changes.created > 0 ? fields(understoodOf(visit, entering, plan)) : changed(visit, plan)
  }</section>
<div class="narrow">${formOf(visit, {
    path,
    action: 'enter',
    hidden: { ...typed, expected: plan.fingerprint },
    body: '',
    button: visit.say('Do it'),
  })}${formOf(visit, {
    path,
    action: 'correct',
    hidden: { ...typed },
    body: '',
    button: visit.say('Correct it'),
    look: 'plain',
  })}<p><a href="${back}">${visit.say('Change nothing')}</a></p></div>`;
}

/** Every value as it was understood. */
const understoodOf = (visit: Visit, { kind }: Entering, { understood }: RowPlan) =>
  FILE_COLUMNS[kind].map((column, i) => {
    const { initial } = column.field;
    const given = understood[i] ?? (initial === NOW ? visit.now : initial);
    return [labelOf(visit, column), writeStored(visit, column.name, given)] as const;
  });

const changed = (
  visit: Visit,
  { listed }: RowPlan,
  before = visit.say('Before'),
  after = visit.say('After'),
): Html =>
  table(
    visit.say('This would be changed:'),
    [visit.say('Field'), before, after].map((heading) => ({ heading })),
    listed.map(({ column, old, new: value }) => [
      visit.translate(nameOf(column)),
      writeStored(visit, column, old) ?? '–',
      writeStored(visit, column, value) ?? '–',
    ]),
  );

function tellOf(visit: Visit, { heading, whose }: Entering, { listed }: RowPlan, values: Texts): Message {
  const what = [whose?.(values), ...listed.map(({ column }) => visit.translate(nameOf(column)))];
  const shown = what.filter((each) => each !== undefined);
  return shown.length === 0
    ? say('{what}: done.', { what: heading })
    : say('{what}: done ({details}).', { what: heading, details: shown });
}

/**
 * The row as a file would have it: of a stored one what finds it, what every row has, and what was changed;
 * of a new one what was filled in.
 */
function rowOf({ kind, settled, stored }: Entering, typed: Texts): Map<string, string> {
  const shown = stored === undefined ? {} : shownTexts(stored);
  const row = new Map(Object.entries(settled));
  for (const { name, isRequired } of askedColumns(kind, settled)) {
    const text = typed[name] ?? '';
    const isUnchanged = stored !== undefined && text === (shown[name] ?? '');
    if (isUnchanged && (isRequired || name === 'full_name')) row.set(name, stored[name] ?? '');
    else if (stored === undefined ? text !== '' || isRequired : !isUnchanged) row.set(name, text);
  }
  return row;
}

/** A date field takes a day: the time of a stored instant stays unless the day is changed. */
const shownTexts = (stored: Texts): Texts =>
  Object.fromEntries(
    Object.entries(stored).map(([column, text]) => {
      const kind = kindOf(column)?.kind;
      return [column, kind === 'instant' || kind === 'past_instant' ? text.slice(0, 10) : text];
    }),
  );

/** Of a stored row, what a file would have. @param values as stored, by the names of fields */
export const textsOf = (
  visit: Visit,
  kind: ImportKind,
  values: { readonly [field: string]: StagedValue | undefined },
): Texts =>
  Object.fromEntries(
    FILE_COLUMNS[kind].flatMap(({ name, role, field }) => {
      const value = values[field.name];
      if (role === 'compared' || value === null || value === undefined) return [];
      return [[name, formatStored(name, value, visit.desk.config.zone) ?? '']];
    }),
  );

/** Of an entry that equals a stored one and is another one nevertheless. */
const newReference = ({ now, desk }: Visit): string =>
  `DESK-${formatDate(now, desk.config.zone)}-${randomBytes(4).toString('hex').toUpperCase()}`;
