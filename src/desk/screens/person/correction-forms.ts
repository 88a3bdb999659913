/** The forms that begin a correction of a person. Each leads to its dry run. */
import { formatDate } from '../../../domain/values/date-time.ts';
import { type Message, say, type Text } from '../../../domain/values/message.ts';
import { MAX_LENGTH } from '../../../domain/values/text.ts';
import { type Html, html } from '../../../html/html.ts';
import type { HeldPerson } from '../../../store/contract/journal/held-data.ts';
import { textOf } from '../../page/held-values.ts';
import { form, input, numberInput, select } from '../../page/parts.ts';
import type { Form, Visit } from '../../visit/screen.ts';
import { pathOf } from './find-visited.ts';

export const HEADINGS = {
  number: say('Correct the national ID'),
  deceased: say('Record a death'),
  merge: say('Merge two memberships'),
  transfer: say('Change the cooperative'),
  remove: say('Remove an entry'),
  erase: say('Erase the person'),
} as const satisfies { readonly [action: string]: Message };
export type Name = keyof typeof HEADINGS;

/** Those that begin with a form of their own: the removal of an entry is beside the entry. */
export const FORMS = ['number', 'deceased', 'transfer', 'merge', 'erase'] as const satisfies readonly Name[];
export type FormName = (typeof FORMS)[number];

const EXPLAINED: { readonly [name in FormName]: Message } = {
  number: say(
    'The old number keeps finding the person. If somebody has the new one, you are asked about it.',
  ),
  deceased: say('In every membership.'),
  transfer: say('The membership ends and keeps its past; another begins.'),
  merge: say('For somebody who was registered twice: everything goes to the one that stays.'),
  erase: say('What says who the person is goes, everywhere. It cannot be undone.'),
};

export const correctionForms = (visit: Visit, person: HeldPerson): Html =>
  html`<section class="forms"><h2>${visit.say('Corrections')}</h2>
<p><small>${visit.say(
    'Each is shown first and asks for a reason. Nothing is changed before you agree.',
  )}</small></p>
${FORMS.map(
  (name) =>
    html`<details name="correction"><summary>${visit.translate(HEADINGS[name])}</summary>
${oneForm(visit, person, name)}</details>`,
)}</section>`;

/** A form again, with what was typed, and why it cannot be meant. */
export const misread = (visit: Visit, person: HeldPerson, name: FormName, given: Form, fault: Text): Html =>
  html`<h1>${visit.translate(HEADINGS[name])}</h1>
<p class="refused" role="alert">${visit.translate(fault)}</p>
<div class="narrow">${oneForm(visit, person, name, given)}
<p><a href="${pathOf(visit)}">${visit.say('Back')}</a></p></div>`;

const oneForm = (visit: Visit, person: HeldPerson, name: FormName, given?: Form): Html =>
  html`<p><small>${visit.translate(EXPLAINED[name])}</small></p>${form(visit, {
    path: pathOf(visit),
    action: name,
    body: fieldsOf(visit, person, name, (field) => given?.get(field) ?? ''),
    button: visit.say('Show what would be done'),
  })}`;

function fieldsOf(
  visit: Visit,
  { memberships: held }: HeldPerson,
  name: FormName,
  typed: (field: string) => string,
): Html | '' {
  const { say, now, desk } = visit;
  const memberships = held.map(
    ({ member }) =>
      [textOf(member, 'id'), `${textOf(member, 'cooperative')}/${textOf(member, 'member_code')}`] as const,
  );
  const max = formatDate(now, desk.config.zone);
  const number = say('The right national ID');
  const on = (label: string) => input({ name: 'on', label, type: 'date', max, value: typed('on') });
  const chosen = (field: string) => ({ chosen: typed(field) || undefined });
  switch (name) {
    case 'number':
      return html`${numberInput(visit, { name: 'current', label: number, value: typed('current') })}${
        memberships.length > 1 &&
        select('memberId', say('Of'), [['', say('all memberships')], ...memberships], chosen('memberId'))
      }`;
    case 'deceased':
      return on(say('Day of the death'));
    case 'transfer':
      return html`${select('memberId', say('Membership'), memberships, chosen('memberId'))}${input({
        name: 'to',
        label: say('Code of the other cooperative'),
        maxLength: MAX_LENGTH.code,
        value: typed('to'),
      })}${input({
        name: 'memberCode',
        label: say('Member code there'),
        maxLength: MAX_LENGTH.memberCode,
        value: typed('memberCode'),
      })}${on(say('First day there'))}`;
    case 'merge':
      return html`${select('fromId', say('The one that goes'), memberships, chosen('fromId'))}${input({
        name: 'intoId',
        label: say('The one that stays'),
        maxLength: 100,
        hint: say('Code of the cooperative and of the member, such as KOAKAMA/11'),
        value: typed('intoId'),
      })}`;
    case 'erase':
      return '';
  }
}
