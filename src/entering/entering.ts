/**
 * Pages to enter or change one row at the desk (docs/desk.md#entering-by-hand): a form, a preview, and an
 * import of the row as if from a file.
 */

import { fields, form as formOf, table } from '../desk/parts.ts';
import type { Answer, Form, Screen, Shows, Visit } from '../desk/screen.ts';
import { enterRow, type RowFault, type RowPlan } from '../import/enter-row.ts';
import { OUTDATED } from '../import/pages/previews-and-runs.ts';
import { openImportSession } from '../import/staging/import-session.ts';
import { FILE_COLUMNS } from '../registry/file-columns.ts';
import { describeMember, nameOf, writeStored } from '../registry/pages/stored-values.ts';
import { openStoredData } from '../registry/stored/stored-data.ts';
import type { FoundMember } from '../registry/stored/stored-data-types.ts';
import { formatDate } from '../values/date-time.ts';
import { NOW } from '../values/declared-fields.ts';
import { type Html, html } from '../values/html.ts';
import { type Message, say, type Text } from '../values/message.ts';
import {
  type FormRow,
  formTexts,
  labelOf,
  newReference,
  otherFaults,
  rowFields,
  rowOf,
  sayAtDesk,
  submittedTexts,
  type Texts,
} from './row-form.ts';

/** A row that users enter or change on a page. */
interface Entering extends FormRow {
  readonly heading: Message;
  readonly path: string;
  /** Path of the page that has the link to the form. */
  readonly back: string;
  /** Returns the path of the page after the entry; `back` by default. @param texts submitted values */
  readonly next?: (texts: Texts) => string;
  /** Returns the submitted codes and references as they are stored, often in upper case. */
  readonly withCodes?: (texts: Texts) => Texts;
  /** True if the next page links to the form for another row. */
  readonly asksAnother?: boolean;
  /** Initial values of a new row. */
  readonly initial?: Texts;
  /** True if a new row without warnings is entered without a preview. */
  readonly isDirect?: boolean;
  /** Returns the name of the member or other owner of the row. */
  readonly ownerName?: (values: Texts) => string | undefined;
  /** Returns the members whom the row names by code, loan or national ID. */
  readonly members?: (values: Texts) => readonly FoundMember[];
  /** Describes the memberships with the national ID of a new member. @param values values of all columns */
  readonly sharing?: (values: Texts) => readonly string[];
  /** Returns the persons whose data the page shows. @param values values of all columns */
  readonly shows: (values: Texts) => Shows | 'nobody';
}

/** @param find returns the row of the page; undefined for 404 */
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
    const { stored, initial = {}, settled } = entering;
    const texts = stored === undefined ? initial : formTexts(stored);
    const shows = stored === undefined ? 'nobody' : entering.shows({ ...stored, ...settled });
    return { body: formPage(visit, entering, texts, {}), shows };
  },
  actions: {
    async enter(visit, form) {
      const entering = await find(visit);
      return entering && enter(visit, entering, form);
    },
    async correct(visit, form) {
      const entering = await find(visit);
      if (entering === undefined) return undefined;
      const texts = submittedTexts(entering, form);
      const shows = entering.shows({ ...texts, ...entering.settled });
      return { body: formPage(visit, entering, texts, {}), shows };
    },
  },
});

async function enter(visit: Visit, entering: Entering, form: Form): Promise<Answer> {
  const { kind, next, back, stored } = entering;
  const submitted = submittedTexts(entering, form);
  const texts = { ...submitted, ...entering.withCodes?.(submitted) };
  if (form.get('again') === 'yes') texts.reference ||= newReference(visit);
  const values = rowOf(entering, texts, formatDate(visit.now, visit.desk.config.zone));
  /** Values of all columns, as a file would have them. */
  const row = Object.fromEntries(values);
  /** Fingerprint of the confirmed plan; empty without a preview. */
  const expected = form.get('expected');
  const entered = await enterRow(
    visit.use(openImportSession),
    { kind, values },
    {
      zone: visit.desk.config.zone,
      clock: visit.desk.clock,
      systemUser: visit.session.user,
      agreed: expected || undefined,
      isDirect: entering.isDirect === true,
    },
  );
  const shows = entering.shows(row);
  if (entered.outcome === 'entered') {
    const told = messageAfter(visit, entering, entered.plan, row);
    const another = entering.asksAnother === true ? entering.path : undefined;
    return { goTo: next?.(texts) ?? back, told, operationId: entered.operationId, another, shows };
  }
  const again = (findings: Findings) => ({ body: formPage(visit, entering, texts, findings), shows });
  const members = kind === 'members' ? entering.members?.(row) : undefined;
  if (entered.outcome === 'refused') return { ...again({ faults: entered.faults, members }), status: 422 };
  if (entered.outcome === 'failed') return { ...again({ message: entered.message }), status: 503 };
  const { plan } = entered;
  const isNew = stored === undefined;
  if (plan.changes.created + plan.changes.changed === 0)
    return again({ message: NOTHING_NEW, asksAgain: isNew && texts.reference === '' });
  // A form for a new row must not change a stored row.
  if (isNew && plan.changes.changed > 0)
    return { ...again({ message: EXISTS, existing: plan, members }), status: 409 };
  const isOther = expected !== '' && expected !== plan.fingerprint;
  return { body: planPage(visit, entering, { texts, row }, plan, isOther), shows };
}

const NOTHING_NEW = say('This is stored already: nothing would change.');
const EXISTS = say(
  'This code or number exists already, with other values. Enter another one, or change that row on its page.',
);

/** Returns the message after an entry: times and amounts of a new row, or names of the changed columns. */
function messageAfter(visit: Visit, entering: Entering, plan: RowPlan, row: Texts): Message {
  const { kind, heading: what, ownerName } = entering;
  const columns =
    plan.changes.created > 0
      ? FILE_COLUMNS[kind].flatMap(({ name, field }, i) =>
          field.kind === 'decimal' || name.endsWith('_at')
            ? writeStored(visit, name, plan.understood[i] ?? null)
            : [],
        )
      : plan.listed.map(({ column }) => visit.translate(nameOf(column)));
  const details = [ownerName?.(row), ...columns].filter((detail) => detail !== undefined);
  return details.length === 0
    ? say('{what}: done.', { what })
    : say('{what}: done ({details}).', { what, details });
}

// Form and preview

/** Reasons why a row was not entered. */
interface Findings {
  readonly faults?: readonly RowFault[];
  readonly message?: Text;
  /** True to offer a checkbox that enters the row although an equal row is stored. */
  readonly asksAgain?: boolean;
  /** Plan of a new row that would change a stored row, because their keys are equal. */
  readonly existing?: RowPlan;
  /** Members to link to. */
  readonly members?: readonly FoundMember[] | undefined;
}

function formPage(
  visit: Visit,
  entering: Entering,
  texts: Texts,
  { faults = [], message, asksAgain, existing, members = [] }: Findings,
): Html {
  const { stored, path, back } = entering;
  const sentences = [
    ...(message === undefined ? [] : [visit.translate(message)]),
    ...otherFaults(visit, entering, faults),
  ];
  return html`${titleOf(visit, entering, { ...stored, ...texts, ...entering.settled })}
${
  (sentences.length > 0 || faults.length > 0) &&
  html`<section class="refused" role="alert">${sentences.map((sentence) => html`<p>${sentence}</p>`)}${
    faults.length > 0 && html`<p>${visit.say('Nothing was saved. The errors are beside the fields.')}</p>`
  }${existing !== undefined && changesTable(visit, existing, visit.say('Stored'), visit.say('Typed'))}${
    members.length > 0 && html`<p>${visit.say('See:')} ${linksTo(visit, members)}</p>`
  }</section>`
}
<div class="narrow">${formOf(visit, {
    path,
    action: 'enter',
    body: html`${rowFields(visit, entering, texts, faults)}${
      asksAgain === true &&
      html`<label class="tick"><input type="checkbox" name="again" value="yes">
${visit.say('It is another entry with the same values: save it too.')}</label>`
    }`,
    button: stored === undefined ? visit.say('Enter') : visit.say('Preview'),
  })}<p><a href="${back}">${visit.say('Back')}</a></p></div>`;
}

function titleOf({ translate }: Visit, { heading, ownerName }: Entering, values: Texts): Html {
  const owner = ownerName?.(values);
  return html`<h1>${translate(heading)}</h1>
${owner !== undefined && html`<p>${owner}</p>`}`;
}

function linksTo(visit: Visit, members: readonly FoundMember[]): Html[] {
  const numbers = visit.use(openStoredData).findNumbers(members.map(({ id }) => id));
  return members.map((member) => {
    const person = visit.session.persons.of(numbers.get(member.id) ?? '');
    return html`<a href="/person/${person}">${describeMember(member)}</a> `;
  });
}

/** @param isOther true if this plan is not the one that the user confirmed */
function planPage(
  visit: Visit,
  entering: Entering,
  { texts, row }: { readonly texts: Texts; readonly row: Texts },
  plan: RowPlan,
  isOther: boolean,
): Html {
  const { kind, path, back, sharing } = entering;
  const isNew = plan.changes.created > 0;
  const people = kind === 'members' && isNew ? (sharing?.(row) ?? []) : [];
  const warnings = plan.warnings.map((text) => sayAtDesk(visit, text));
  if (people.length > 0)
    warnings.unshift(
      visit.say('This national ID is already that of {people}. Is it the same person?', { people }),
    );
  return html`${titleOf(visit, entering, row)}
${isOther && html`<p class="refused" role="alert">${visit.translate(OUTDATED)}</p>`}
${
  warnings.length > 0 &&
  html`<section class="attention" role="alert">${warnings.map((text) => html`<p>${text}</p>`)}</section>`
}
<section class="card"><p>${
    isNew ? visit.say('This would be added:') : visit.say('This would be changed:')
  }</p>${
    isNew
      ? fields(understoodValues(visit, entering, plan))
      : changesTable(visit, plan, visit.say('Before'), visit.say('After'))
  }</section>
<div class="narrow">${formOf(visit, {
    path,
    action: 'enter',
    hidden: { ...texts, expected: plan.fingerprint },
    body: '',
    button: visit.say('Confirm'),
  })}${formOf(visit, {
    path,
    action: 'correct',
    hidden: { ...texts },
    body: '',
    button: visit.say('Correct it'),
    look: 'plain',
  })}<p><a href="${back}">${visit.say('Cancel')}</a></p></div>`;
}

const understoodValues = (visit: Visit, { kind }: Entering, { understood }: RowPlan) =>
  FILE_COLUMNS[kind].map((column, i) => {
    const { initial } = column.field;
    const value = understood[i] ?? (initial === NOW ? visit.now : initial);
    return [labelOf(visit, column), writeStored(visit, column.name, value)] as const;
  });

const changesTable = (visit: Visit, { listed }: RowPlan, before: string, after: string): Html =>
  table(
    visit.say('This would be changed:'),
    [visit.say('Field'), before, after].map((heading) => ({ heading })),
    listed.map(({ column, old, new: value }) => [
      visit.translate(nameOf(column)),
      writeStored(visit, column, old) ?? '–',
      writeStored(visit, column, value) ?? '–',
    ]),
  );
