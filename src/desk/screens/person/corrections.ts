/** The corrections of a person at the desk, each as its command makes it (docs/correcting.md). */

import { parseMemberName } from '../../../app/member-names.ts';
import { ENTRY_KINDS } from '../../../domain/entries/entries.ts';
import { parseIdentityCard } from '../../../domain/membership/identity-card.ts';
import { formatDate, parsePastDate, startOfDay } from '../../../domain/values/date-time.ts';
import { FieldError } from '../../../domain/values/errors.ts';
import { type Message, say, type Text } from '../../../domain/values/message.ts';
import { MAX_LENGTH, parseNamedCode, parseText } from '../../../domain/values/text.ts';
import { type Html, html } from '../../../html/html.ts';
import type { HeldPerson } from '../../../store/ports/journal/held-data.ts';
import { form, input, select } from '../../page/parts.ts';
import type { Action, Continuation, Form, Page, Shows, Visit } from '../../visit/screen.ts';
import { type Proposal, proposeCorrection, refuseGiven } from '../propose-correction.ts';
import type { RowEnd } from './entries.ts';
import { findVisited, pathOf, showing } from './find-visited.ts';
import { numberOf, textOf } from './held-values.ts';

const HEADINGS = {
  number: say('Correct the national ID'),
  deceased: say('Record a death'),
  merge: say('Merge two memberships'),
  transfer: say('Change the cooperative'),
  remove: say('Remove an entry'),
  erase: say('Erase the person'),
} as const satisfies { readonly [action: string]: Message };
type Name = keyof typeof HEADINGS;

/** Of what is given for a correction; memberships are named by what the correction changes. */
const LABELS: { readonly [field: string]: Message } = {
  number: say('The right national ID'),
  on: say('Day'),
  to: say('Code of the other cooperative'),
  code: say('Member code there'),
  cooperative: say('Cooperative'),
  reference: say('Reference'),
};

/** What was given in a form cannot be meant. */
class Misread extends Error {
  readonly text: Text;
  constructor(text: Text) {
    super(String(text));
    this.text = text;
  }
}

function read<T>(value: T | FieldError): T {
  if (value instanceof FieldError) throw new Misread(value.text);
  return value;
}

type Prepare = (visit: Visit, person: HeldPerson, form: Form) => Promise<Proposal['run']> | Proposal['run'];

/** @param names of the fields that the action is given */
const action =
  (name: Name, names: readonly string[], prepare: Prepare): Action =>
  async (visit, given): Promise<Page | Continuation | undefined> => {
    const person = await findVisited(visit);
    if (person === undefined) return undefined;
    const path = pathOf(visit);
    const heading = HEADINGS[name];
    try {
      return await proposeCorrection(visit, given, {
        heading,
        path,
        action: name,
        shows: await showingAlso(visit, name, person, given),
        back: path,
        // Nobody is left to be shown.
        ...(name === 'erase' ? { afterwards: '/', isFinal: true } : {}),
        given: Object.fromEntries(names.map((each) => [each, given.get(each)])),
        run: await prepare(visit, person, given),
        seen: [
          [visit.say('National ID'), person.identityCard],
          ...names.flatMap((each) => (LABELS[each] ? [labelled(visit, LABELS[each], given.get(each))] : [])),
        ],
      });
    } catch (error) {
      if (error instanceof Misread) return refuseGiven(visit, heading, path, error.text);
      throw error;
    }
  };

/** A dry run also tells whether somebody has the other number, or is the other member. */
async function showingAlso(visit: Visit, name: Name, person: HeldPerson, given: Form): Promise<Shows> {
  const { fields, subject } = showing(person);
  const { identityCards = [], memberIds = [] } = subject;
  if (name === 'number') {
    const other = read(parseIdentityCard(given.get('number').replace(/\s/g, '')));
    return { fields, subject: { memberIds, identityCards: [...identityCards, other] } };
  }
  if (name !== 'merge') return { fields, subject };
  const other = await readOtherMember(visit, given.get('into'));
  return { fields, subject: { identityCards, memberIds: [...memberIds, other] } };
}

const labelled = ({ translate, write }: Visit, label: Message, given: string) =>
  [translate(label), /^\d{4}-\d{2}-\d{2}$/.test(given) ? write.date(given) : given] as const;

const todayOf = ({ now, desk }: Visit): string => formatDate(now, desk.config.zone);
const readDay = (visit: Visit, given: Form): string => read(parsePastDate(given.get('on'), todayOf(visit)));

/** One of the person's own memberships. */
function readMembership({ memberships }: HeldPerson, id: string): number {
  const found = memberships.find(({ member }) => textOf(member, 'id') === id);
  if (found === undefined) throw new Misread(say('Choose a membership of this person.'));
  return numberOf(found.member, 'id');
}

/** @param text `CODE/MEMBERCODE` */
async function readOtherMember(visit: Visit, text: string): Promise<number> {
  const name = parseMemberName(text);
  const held = visit.use((storage) => storage.openHeldData());
  const [found, ...others] = name?.cooperativeCode === undefined ? [] : await held.findMembers(name);
  if (found === undefined || others.length > 0)
    throw new Misread(say('Expected the code of a cooperative and of a member there, such as KOAKAMA/11.'));
  return found.id;
}

export const CORRECTIONS: { readonly [action in Name]: Action } = {
  number: action('number', ['number'], (_visit, { identityCard }, given) => {
    const current = read(parseIdentityCard(given.get('number').replace(/\s/g, '')));
    return (store, options) => store.replaceIdentityCard(identityCard, current, options);
  }),
  deceased: action('deceased', ['on'], (visit, { identityCard }, given) => {
    const on = readDay(visit, given);
    return (store, options) => store.recordDeath(identityCard, on, options);
  }),
  merge: action('merge', ['from', 'into'], async (visit, person, given) => {
    const [from, into] = [
      readMembership(person, given.get('from')),
      await readOtherMember(visit, given.get('into')),
    ];
    return (store, options) => store.mergeMembers(from, into, options);
  }),
  transfer: action('transfer', ['from', 'to', 'code', 'on'], (visit, person, given) => {
    const on = readDay(visit, given);
    const transfer = {
      memberId: readMembership(person, given.get('from')),
      to: read(parseNamedCode(given.get('to'))),
      memberCode: read(parseText(given.get('code'), MAX_LENGTH.memberCode)),
      on,
      startsAt: startOfDay(on, visit.desk.config.zone),
    };
    return (store, options) => store.transferMember(transfer, options);
  }),
  remove: action('remove', ['kind', 'cooperative', 'reference'], (_visit, { memberships }, given) => {
    const kind = ENTRY_KINDS.find((each) => each === given.get('kind'));
    const selection = { cooperativeCode: given.get('cooperative'), reference: given.get('reference') };
    const isTheirs = memberships.some(({ deliveries, savingsTransactions, loans }) =>
      [...deliveries, ...savingsTransactions, ...loans].some(
        (row) => row.cooperative === selection.cooperativeCode && row.reference === selection.reference,
      ),
    );
    if (kind === undefined || !isTheirs) throw new Misread(say('This entry is not there any more.'));
    return (store, options) => store.removeEntries(kind, selection, options);
  }),
  erase: action(
    'erase',
    [],
    (_visit, { identityCard }) =>
      (store, options) =>
        store.erasePerson(identityCard, options),
  ),
};

/** A button behind an entry, for those that have a reference. */
export const removeButton =
  (visit: Visit): RowEnd =>
  (kind, row) =>
    textOf(row, 'reference') !== '' &&
    form(visit, {
      path: pathOf(visit),
      action: 'remove',
      look: 'plain',
      body: '',
      hidden: { kind, cooperative: textOf(row, 'cooperative'), reference: textOf(row, 'reference') },
      button: visit.say('Remove…'),
    });

/** The forms that begin a correction. Each leads to its dry run. */
export function correctionForms(visit: Visit, person: HeldPerson): Html {
  const { say, translate } = visit;
  const own = person.memberships.map(({ member }) => member);
  const memberships = own.map(
    (member) =>
      [textOf(member, 'id'), `${textOf(member, 'cooperative')}/${textOf(member, 'member_code')}`] as const,
  );
  const max = todayOf(visit);
  const on = (label: string) => input({ name: 'on', label, type: 'date', max });
  const begin = (name: Name, explained: string, body: Html | '') =>
    html`<details name="correction"><summary>${translate(HEADINGS[name])}</summary>
<p><small>${explained}</small></p>${form(visit, {
      path: pathOf(visit),
      action: name,
      body,
      button: say('Show what would be done'),
    })}</details>`;
  return html`<section class="forms"><h2>${say('Corrections')}</h2>
<p><small>${say(
    'Each is shown first and asks for a reason. Nothing is changed before you agree.',
  )}</small></p>
${begin(
  'number',
  say('The old number keeps finding the person. If somebody has the new one, both become one person.'),
  input({
    name: 'number',
    label: say('The right national ID'),
    isNumeric: true,
    pattern: '[0-9 ]{16,20}',
    maxLength: 20,
    hint: say('16 digits'),
  }),
)}
${begin('deceased', say('In every membership.'), on(say('Day of the death')))}
${begin(
  'transfer',
  say('The membership ends and keeps its past; another begins.'),
  html`${select('from', say('Membership'), memberships)}${input({
    name: 'to',
    label: say('Code of the other cooperative'),
    maxLength: MAX_LENGTH.code,
  })}${input({
    name: 'code',
    label: say('Member code there'),
    maxLength: MAX_LENGTH.memberCode,
  })}${on(say('First day there'))}`,
)}
${begin(
  'merge',
  say('For somebody who was registered twice: everything goes to the one that stays.'),
  html`${select('from', say('The one that goes'), memberships)}${input({
    name: 'into',
    label: say('The one that stays'),
    maxLength: 100,
    hint: say('Code of the cooperative and of the member, such as KOAKAMA/11'),
  })}`,
)}
${begin('erase', say('What says who the person is goes, everywhere. It cannot be undone.'), '')}</section>`;
}
