/** Corrections of a person at the desk, equivalent to the commands (docs/correcting.md). */

import { form, input, numberInput, refuseGiven, select } from '../../desk/parts.ts';
import type { Action, Continuation, Form, Page, Visit } from '../../desk/screen.ts';
import { atDesk } from '../../import/pages/findings.ts';
import { parseMemberName } from '../../journal/named-member.ts';
import { ENTRY_KINDS } from '../../registry/entries.ts';
import { findVisited, personPath, showing } from '../../registry/pages/find-visited.ts';
import { numberOf, textOf } from '../../registry/pages/show-stored-values.ts';
import { openStoredData } from '../../registry/stored/stored-data.ts';
import type { StoredPerson } from '../../registry/stored/stored-data-types.ts';
import { formatDate } from '../../values/date-time.ts';
import { type Awaitable, FieldError } from '../../values/errors.ts';
import { type Html, type HtmlValue, html } from '../../values/html.ts';
import { parseIdentityCard } from '../../values/identity-card.ts';
import { type Message, say, type Text } from '../../values/message.ts';
import { MAX_LENGTH, parseNamedCode, parseText } from '../../values/text.ts';
import {
  CORRECTIONS,
  type CorrectionName,
  type PreparedCorrection,
  parseDay,
  prepareCorrection,
} from '../corrections/correction-store.ts';
import { comparedMembers, proposeCorrection, withSubject } from './propose-correction.ts';

const HEADINGS = {
  number: say('Correct the national ID'),
  deceased: say('Record a death'),
  merge: say('Merge two memberships'),
  transfer: say('Change the cooperative'),
  remove: say('Remove an entry'),
  erase: say('Erase the person'),
} as const satisfies { readonly [action: string]: Message };
type Name = keyof typeof HEADINGS;
/** Corrections with a form on the page. Removal is a button of each entry. */
type FormName = Exclude<Name, 'remove'>;

/** In the order of the page. */
const EXPLAINED: { readonly [name in FormName]: Message } = {
  number: say(
    'The old number still finds the person. If another person has the new one, you are asked about it.',
  ),
  deceased: say('In every membership.'),
  transfer: say('The membership ends and keeps its history; a new one begins.'),
  merge: say('For a person who was registered twice: everything moves to the membership that is kept.'),
  erase: say('Everything that identifies the person is removed, everywhere. This cannot be undone.'),
};

export const correctionForms = (visit: Visit, person: StoredPerson): Html =>
  html`<section class="forms"><h2>${visit.say('Corrections')}</h2>
<p><small>${visit.say(
    'Each correction is shown first and asks for a reason. Nothing is changed before you confirm.',
  )}</small></p>
${(Object.keys(EXPLAINED) as FormName[]).map(
  (name) =>
    html`<details name="correction"><summary>${visit.translate(HEADINGS[name])}</summary>
${oneForm(visit, person, name)}</details>`,
)}</section>`;

const misread = (visit: Visit, person: StoredPerson, name: FormName, submitted: Form, fault: Text): Html =>
  html`<h1>${visit.translate(HEADINGS[name])}</h1>
<p class="refused" role="alert">${visit.translate(fault)}</p>
<div class="narrow">${oneForm(visit, person, name, submitted)}
<p><a href="${personPath(visit)}">${visit.say('Back')}</a></p></div>`;

const oneForm = (visit: Visit, person: StoredPerson, name: FormName, submitted?: Form): Html =>
  html`<p><small>${visit.translate(EXPLAINED[name])}</small></p>${form(visit, {
    path: personPath(visit),
    action: name,
    body: fieldsOf(visit, person, name, (field) => submitted?.get(field) ?? ''),
    button: visit.say('Preview'),
  })}`;

function fieldsOf(
  visit: Visit,
  person: StoredPerson,
  name: FormName,
  valueIn: (field: string) => string,
): HtmlValue {
  const { say, translate, now, desk } = visit;
  const memberships = person.memberships.map(
    ({ member }) =>
      [textOf(member, 'id'), `${textOf(member, 'cooperative')}/${textOf(member, 'member_code')}`] as const,
  );
  const max = formatDate(now, desk.storage.zone);
  const textField = (field: 'to' | 'memberCode', maxLength: number) =>
    input({ name: field, label: translate(LABELS[field]), maxLength, value: valueIn(field) });
  const on = (label: string) => input({ name: 'on', label, type: 'date', max, value: valueIn('on') });
  const chosen = (field: string) => ({ chosen: valueIn(field) || undefined });
  switch (name) {
    case 'number':
      return [
        numberInput(visit, { name: 'current', label: translate(LABELS.current), value: valueIn('current') }),
        memberships.length > 1 &&
          select('memberId', say('Of'), [['', say('all memberships')], ...memberships], chosen('memberId')),
      ];
    case 'deceased':
      return on(say('Day of the death'));
    case 'transfer':
      return [
        select('memberId', say('Membership'), memberships, chosen('memberId')),
        textField('to', MAX_LENGTH.code),
        textField('memberCode', MAX_LENGTH.memberCode),
        on(say('First day there')),
      ];
    case 'merge':
      return [
        select('fromId', say('Membership to merge'), memberships, chosen('fromId')),
        input({
          name: 'intoId',
          label: say('Membership to keep'),
          maxLength: 100,
          hint: say('Code of the cooperative and of the member, such as KOAKAMA/11'),
          value: valueIn('intoId'),
        }),
      ];
    case 'erase':
      return '';
  }
}

/** Labels of submitted values. Memberships have none, because the list of changes names them. */
const LABELS = {
  current: say('The right national ID'),
  to: say('Code of the other cooperative'),
  memberCode: say('Member code there'),
  on: say('Day'),
  cooperative: say('Cooperative'),
  reference: say('Reference'),
};

class Misread extends Error {
  readonly text: Text;
  constructor(text: Text) {
    super(String(text));
    this.text = text;
  }
}

function read<T>(value: T | FieldError): T {
  if (value instanceof FieldError) throw new Misread(atDesk(value.text) ?? value.text);
  return value;
}

type Prepare = (visit: Visit, person: StoredPerson, form: Form) => Awaitable<PreparedCorrection>;

/** @param names the form fields that `prepare` reads */
const action =
  (name: Name, names: readonly string[], prepare: Prepare): Action =>
  async (visit, submitted): Promise<Page | Continuation | undefined> => {
    const person = findVisited(visit);
    if (person === undefined) return undefined;
    const path = personPath(visit);
    const heading = HEADINGS[name];
    try {
      const prepared = await prepare(visit, person, submitted);
      return proposeCorrection(visit, submitted, {
        heading,
        path,
        action: name,
        // A dry run reveals whether the numbers and members in the form exist.
        shows: withSubject(showing(person), prepared.names),
        back: path,
        // After an erasure, there is no person to return to.
        ...(name === 'erase' ? { afterwards: '/', isFinal: true } : {}),
        values: Object.fromEntries(names.map((field) => [field, submitted.get(field)])),
        run: prepared.run,
        compared: name === 'merge' ? comparedMembers(visit, prepared.names.memberIds) : undefined,
        seen: [
          [visit.say('National ID'), person.identityCard],
          ...Object.entries(LABELS)
            .filter(([field]) => names.includes(field))
            .map(([field, label]) => labelled(visit, label, submitted.get(field))),
        ],
      });
    } catch (error) {
      if (!(error instanceof Misread)) throw error;
      if (name === 'remove') return refuseGiven(visit, heading, path, error.text);
      const body = misread(visit, person, name, submitted, error.text);
      return { body, shows: showing(person), status: 422 };
    }
  };

/**
 * Returns the action of a declared correction. Its form fields have the names of the correction's values.
 * @param ofPerson the value that is the national ID of the person on the page; the form has no such field
 */
function declared(name: Name, correction: CorrectionName, ofPerson?: 'old' | 'nid'): Action {
  const names = Object.keys(CORRECTIONS[correction].takes).filter((field) => field !== ofPerson);
  return action(name, names, (visit, person, submitted) => {
    const text = (field: string) => submitted.get(field);
    const readNumber = (field: string) =>
      field === ofPerson ? person.identityCard : read(parseIdentityCard(text(field).replace(/\s/g, '')));
    return prepareCorrection(correction, {
      membersOf: (identityCard) =>
        visit
          .use(openStoredData)
          .findMembers({ identityCard })
          .map(({ id }) => id),
      number: readNumber,
      holder: readNumber,
      member: (field) =>
        field === 'intoId'
          ? readOtherMember(visit, text(field), person, text('fromId'))
          : readMembership(person, text(field)),
      optionalMember: (field) => (text(field) === '' ? undefined : readMembership(person, text(field))),
      code: (field) => read(parseNamedCode(text(field))),
      memberCode: (field) => read(parseText(text(field), MAX_LENGTH.memberCode)),
      day: (field) => read(parseDay(text(field), visit.desk.storage.zone, visit.now)),
    });
  });
}

const labelled = ({ translate, write }: Visit, label: Message, text: string) =>
  [translate(label), /^\d{4}-\d{2}-\d{2}$/.test(text) ? write.date(text) : text] as const;

function readMembership({ memberships }: StoredPerson, id: string): number {
  const membership = memberships.find(({ member }) => textOf(member, 'id') === id);
  if (membership === undefined) throw new Misread(say('Choose a membership of this person.'));
  return numberOf(membership.member, 'id');
}

/** @param text `CODE/MEMBERCODE`, or `MEMBERCODE` in the cooperative of the membership to merge */
function readOtherMember(visit: Visit, text: string, { memberships }: StoredPerson, fromId: string): number {
  const from = memberships.find(({ member }) => textOf(member, 'id') === fromId)?.member;
  const isAlone = from !== undefined && !text.includes('/');
  const name = parseMemberName(isAlone ? `${textOf(from, 'cooperative')}/${text}` : text);
  const store = visit.use(openStoredData);
  const [member, ...rest] = name?.cooperativeCode === undefined ? [] : store.findMembers(name);
  if (member === undefined || rest.length > 0)
    throw new Misread(say('Expected the code of a cooperative and of a member there, such as KOAKAMA/11.'));
  return member.id;
}

export const CORRECTING: { readonly [action in Name]: Action } = {
  number: declared('number', 'replaceIdentityCard', 'old'),
  deceased: declared('deceased', 'recordDeath', 'nid'),
  merge: declared('merge', 'mergeMembers'),
  transfer: declared('transfer', 'transferMember'),
  remove: action('remove', ['kind', 'cooperative', 'reference'], (_visit, { memberships }, submitted) => {
    const kind = ENTRY_KINDS.find((entryKind) => entryKind === submitted.get('kind'));
    const selection = {
      cooperativeCode: submitted.get('cooperative'),
      reference: submitted.get('reference'),
    };
    const isTheirs = memberships.some(({ deliveries, savingsTransactions, loans }) =>
      [...deliveries, ...savingsTransactions, ...loans].some(
        (row) => row.cooperative === selection.cooperativeCode && row.reference === selection.reference,
      ),
    );
    if (kind === undefined || !isTheirs) throw new Misread(say('This entry no longer exists.'));
    return {
      names: { identityCards: [], memberIds: [] },
      run: (store, options) => store.removeEntries(kind, selection, options),
    };
  }),
  erase: declared('erase', 'erasePerson', 'nid'),
};
