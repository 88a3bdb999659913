/** Pages on which one row is typed, and shown before it is written. */

import { fields, form as formOf, table } from '../desk/parts.ts';
import type { Shows, Visit } from '../desk/screen.ts';
import type { RowFault, RowPlan } from '../import/enter-row.ts';
import { FILE_COLUMNS, type ImportKind } from '../registry/file-columns.ts';
import { describeMember, nameOf, writeStored } from '../registry/pages/stored-values.ts';
import { openStoredData } from '../registry/stored/stored-data.ts';
import type { FoundMember } from '../registry/stored/stored-data-types.ts';
import { NOW } from '../values/declared-fields.ts';
import { type Html, html } from '../values/html.ts';
import { type Message, say, type Text } from '../values/message.ts';
import { labelOf, otherFaults, rowFields, sayAtDesk, type Texts } from './row-form.ts';

/** One row that a page enters or changes. */
export interface Entering {
  readonly kind: ImportKind;
  readonly heading: Message;
  readonly path: string;
  /** The page on which the entry began, and to which it returns. */
  readonly back: string;
  /** The page that follows, if it is not `back`. @param given typed values */
  readonly next?: (given: Texts) => string;
  /** Typed values, with codes in their stored form: many are in upper case. */
  readonly withCodes?: (typed: Texts) => Texts;
  /** Proposed values for columns of free text, which are read only if the form is shown. */
  readonly proposed?: () => { readonly [column: string]: readonly string[] };
  /** True if another row may follow although the next page is a different one. */
  readonly asksAnother?: boolean;
  /** Columns with values that the page determines: the owner of the row, or the key of a stored row. */
  readonly settled: Texts;
  /** Values of a stored row, as a file would have them. */
  readonly stored?: Texts;
  /** Initial values of the fields for a new row. */
  readonly initial?: Texts;
  /** True if a new row without warnings is entered at once. */
  readonly isDirect?: boolean;
  /** Name of the owner of the row, such as a member. */
  readonly whose?: (values: Texts) => string | undefined;
  /** Members whom a row is about, or who have a code or national ID that it gives. */
  readonly members?: (values: Texts) => readonly FoundMember[];
  /** Memberships of the person of a new member. @param values of all columns */
  readonly sharing?: (values: Texts) => readonly string[];
  /** Persons whose data the row shows. @param values of all columns */
  readonly shows: (values: Texts) => Shows | 'nobody';
}

const OTHER = say('Something has changed meanwhile. Look at it again.');

interface Around {
  readonly faults?: readonly RowFault[];
  readonly told?: Text;
  /** True if the row may be entered once more, as another one. */
  readonly asksAgain?: boolean;
  /** Plan of the changes to a stored row with the same key. */
  readonly stored?: RowPlan;
  /** Members whom a row is about that was not entered. */
  readonly members?: readonly FoundMember[] | undefined;
}

export function typingPage(
  visit: Visit,
  { kind, heading, path, back, settled, stored, whose, proposed }: Entering,
  typed: Texts,
  { faults = [], told, asksAgain, stored: existing, members = [] }: Around,
): Html {
  const sentences = [
    ...(told === undefined ? [] : [visit.translate(told)]),
    ...otherFaults(visit, kind, settled, faults),
  ];
  const of = whose?.({ ...stored, ...typed, ...settled });
  return html`<h1>${visit.translate(heading)}</h1>
${of !== undefined && html`<p>${of}</p>`}
${
  (sentences.length > 0 || faults.length > 0) &&
  html`<section class="refused" role="alert">${sentences.map((each) => html`<p>${each}</p>`)}${
    faults.length > 0 && html`<p>${visit.say('Nothing was entered. What is wrong is beside the fields.')}</p>`
  }${existing !== undefined && changed(visit, existing, visit.say('Stored'), visit.say('Typed'))}${
    members.length > 0 && html`<p>${visit.say('Look at:')} ${linksTo(visit, members)}</p>`
  }</section>`
}
<div class="narrow">${formOf(visit, {
    path,
    action: 'enter',
    body: html`${rowFields(visit, { kind, settled, proposed: proposed?.() }, typed, faults)}${
      asksAgain === true &&
      html`<label class="tick"><input type="checkbox" name="again" value="yes">
${visit.say('It is another one like it: enter it once more.')}</label>`
    }`,
    button: stored === undefined ? visit.say('Enter') : visit.say('Show what would be changed'),
  })}<p><a href="${back}">${visit.say('Back')}</a></p></div>`;
}

function linksTo(visit: Visit, members: readonly FoundMember[]): Html[] {
  const numbers = visit.use((storage) => openStoredData(storage)).findNumbers(members.map(({ id }) => id));
  return members.map((member) => {
    const person = visit.session.persons.of(numbers.get(member.id) ?? '');
    return html`<a href="/person/${person}">${describeMember(member)}</a> `;
  });
}

interface Planned {
  readonly typed: Texts;
  readonly values: ReadonlyMap<string, string>;
  readonly plan: RowPlan;
  readonly isOther: boolean;
}

export function planPage(visit: Visit, entering: Entering, { typed, values, plan, isOther }: Planned): Html {
  const { kind, heading, path, back, whose, sharing } = entering;
  const row = Object.fromEntries(values);
  const shared = kind === 'members' && plan.changes.created > 0 ? (sharing?.(row) ?? []) : [];
  const warned = [
    ...(shared.length === 0
      ? []
      : [
          visit.say('This national ID is already that of {people}. Is it the same person?', {
            people: shared,
          }),
        ]),
    ...plan.warnings.map((text) => sayAtDesk(visit, text)),
  ].map((text) => html`<p>${text}</p>`);
  const of = whose?.(row);
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
