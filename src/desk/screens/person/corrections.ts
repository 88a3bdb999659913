/** The corrections of a person at the desk, each as its command makes it (docs/correcting.md). */

import { parseMemberName } from '../../../app/member-names.ts';
import {
  CORRECTIONS,
  type Correction,
  type PreparedCorrection,
  parsersOf,
  prepareCorrection,
} from '../../../app/operations/corrections.ts';
import { ENTRY_KINDS } from '../../../domain/entries/entries.ts';
import { parseIdentityCard } from '../../../domain/membership/identity-card.ts';
import type { Awaitable } from '../../../domain/values/awaitable.ts';
import { formatDate } from '../../../domain/values/date-time.ts';
import { FieldError } from '../../../domain/values/errors.ts';
import { type Message, say, type Text } from '../../../domain/values/message.ts';
import { MAX_LENGTH } from '../../../domain/values/text.ts';
import { type Html, html } from '../../../html/html.ts';
import type { HeldPerson } from '../../../store/contract/journal/held-data.ts';
import { changeLink, enterLink } from '../../page/entered-kinds.ts';
import { numberOf, textOf } from '../../page/held-values.ts';
import { form, input, numberInput, select } from '../../page/parts.ts';
import type { Action, Continuation, Form, Page, Shows, Visit } from '../../visit/screen.ts';
import { proposeCorrection, refuseGiven } from '../propose-correction.ts';
import type { RowEnd } from './entries.ts';
import { findVisited, pathOf, showing } from './find-visited.ts';

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
  current: say('The right national ID'),
  on: say('Day'),
  to: say('Code of the other cooperative'),
  memberCode: say('Member code there'),
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

type Prepare = (visit: Visit, person: HeldPerson, form: Form) => Awaitable<PreparedCorrection>;

/** @param names of the fields that the action is given */
const action =
  (name: Name, names: readonly string[], prepare: Prepare): Action =>
  async (visit, given): Promise<Page | Continuation | undefined> => {
    const person = findVisited(visit);
    if (person === undefined) return undefined;
    const path = pathOf(visit);
    const heading = HEADINGS[name];
    try {
      const prepared = await prepare(visit, person, given);
      return proposeCorrection(visit, given, {
        heading,
        path,
        action: name,
        shows: showingAlso(person, prepared.names),
        back: path,
        // Nobody is left to be shown.
        ...(name === 'erase' ? { afterwards: '/', isFinal: true } : {}),
        given: Object.fromEntries(names.map((each) => [each, given.get(each)])),
        run: prepared.run,
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

/** A correction as its command makes it, of what is in fields of the same names, and of this person. */
function declared(name: Name, correction: Correction, ofPerson: 'old' | 'nid' | 'none' = 'none'): Action {
  const takes = { ...correction.takes, ...correction.mayTake };
  const names = Object.keys(takes).filter((each) => each !== ofPerson);
  return action(name, names, (visit, person, given) => {
    const parsers = parsersOf(visit.desk.config.zone, visit.now);
    const readNumber = (field: string) =>
      field === ofPerson ? person.identityCard : read(parseIdentityCard(given.get(field).replace(/\s/g, '')));
    return prepareCorrection(correction, {
      isGiven: (field) => given.get(field) !== '',
      membersOf: (identityCard) =>
        visit
          .use((storage) => storage.openHeldData())
          .findMembers({ identityCard })
          .map(({ id }) => id),
      number: readNumber,
      holder: readNumber,
      member: (field) =>
        field === 'intoId'
          ? readOtherMember(visit, given.get(field))
          : readMembership(person, given.get(field)),
      code: (field) => read(parsers.code(given.get(field))),
      memberCode: (field) => read(parsers.memberCode(given.get(field))),
      day: (field) => read(parsers.day(given.get(field))),
    });
  });
}

/** A dry run also tells whether somebody has the other number, or is the other member. */
function showingAlso(person: HeldPerson, names: PreparedCorrection['names']): Shows {
  const { fields, subject } = showing(person);
  const also = <T>(before: readonly T[] = [], named: readonly T[]): T[] => [
    ...new Set([...before, ...named]),
  ];
  const identityCards = also(subject.identityCards, names.identityCards);
  return { fields, subject: { identityCards, memberIds: also(subject.memberIds, names.memberIds) } };
}

const labelled = ({ translate, write }: Visit, label: Message, given: string) =>
  [translate(label), /^\d{4}-\d{2}-\d{2}$/.test(given) ? write.date(given) : given] as const;

/** One of the person's own memberships. */
function readMembership({ memberships }: HeldPerson, id: string): number {
  const found = memberships.find(({ member }) => textOf(member, 'id') === id);
  if (found === undefined) throw new Misread(say('Choose a membership of this person.'));
  return numberOf(found.member, 'id');
}

/** @param text `CODE/MEMBERCODE` */
function readOtherMember(visit: Visit, text: string): number {
  const name = parseMemberName(text);
  const held = visit.use((storage) => storage.openHeldData());
  const [found, ...others] = name?.cooperativeCode === undefined ? [] : held.findMembers(name);
  if (found === undefined || others.length > 0)
    throw new Misread(say('Expected the code of a cooperative and of a member there, such as KOAKAMA/11.'));
  return found.id;
}

export const CORRECTING: { readonly [action in Name]: Action } = {
  number: declared('number', CORRECTIONS.replaceIdentityCard, 'old'),
  deceased: declared('deceased', CORRECTIONS.recordDeath, 'nid'),
  merge: declared('merge', CORRECTIONS.mergeMembers),
  transfer: declared('transfer', CORRECTIONS.transferMember),
  remove: action('remove', ['kind', 'cooperative', 'reference'], (_visit, { memberships }, given) => {
    const kind = ENTRY_KINDS.find((each) => each === given.get('kind'));
    const selection = { cooperativeCode: given.get('cooperative'), reference: given.get('reference') };
    const isTheirs = memberships.some(({ deliveries, savingsTransactions, loans }) =>
      [...deliveries, ...savingsTransactions, ...loans].some(
        (row) => row.cooperative === selection.cooperativeCode && row.reference === selection.reference,
      ),
    );
    if (kind === undefined || !isTheirs) throw new Misread(say('This entry is not there any more.'));
    return {
      names: { identityCards: [], memberIds: [] },
      run: (store, options) => store.removeEntries(kind, selection, options),
    };
  }),
  erase: declared('erase', CORRECTIONS.erasePerson, 'nid'),
};

/** What can be done with an entry: changed, removed, and of a loan that is paid back, a payment recorded. */
export const entryActions =
  (visit: Visit): RowEnd =>
  (kind, row) => {
    if (textOf(row, 'reference') === '') return false;
    const remove = form(visit, {
      path: pathOf(visit),
      action: 'remove',
      look: 'plain',
      body: '',
      hidden: { kind, cooperative: textOf(row, 'cooperative'), reference: textOf(row, 'reference') },
      button: visit.say('Remove…'),
    });
    const [person, id] = [pathOf(visit), textOf(row, 'id')];
    return html`${changeLink(visit, person, kind, id)}${
      kind === 'loans' && enterLink(visit, person, 'payments', id)
    }${kind !== 'payments' && remove}`;
  };

/** The forms that begin a correction. Each leads to its dry run. */
export function correctionForms(visit: Visit, person: HeldPerson): Html {
  const { say, translate } = visit;
  const own = person.memberships.map(({ member }) => member);
  const memberships = own.map(
    (member) =>
      [textOf(member, 'id'), `${textOf(member, 'cooperative')}/${textOf(member, 'member_code')}`] as const,
  );
  const max = formatDate(visit.now, visit.desk.config.zone);
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
  say('The old number keeps finding the person. If somebody has the new one, you are asked about it.'),
  html`${numberInput('current', say('The right national ID'), say('16 digits'))}${
    memberships.length > 1 && select('memberId', say('Of'), [['', say('all memberships')], ...memberships])
  }`,
)}
${begin('deceased', say('In every membership.'), on(say('Day of the death')))}
${begin(
  'transfer',
  say('The membership ends and keeps its past; another begins.'),
  html`${select('memberId', say('Membership'), memberships)}${input({
    name: 'to',
    label: say('Code of the other cooperative'),
    maxLength: MAX_LENGTH.code,
  })}${input({
    name: 'memberCode',
    label: say('Member code there'),
    maxLength: MAX_LENGTH.memberCode,
  })}${on(say('First day there'))}`,
)}
${begin(
  'merge',
  say('For somebody who was registered twice: everything goes to the one that stays.'),
  html`${select('fromId', say('The one that goes'), memberships)}${input({
    name: 'intoId',
    label: say('The one that stays'),
    maxLength: 100,
    hint: say('Code of the cooperative and of the member, such as KOAKAMA/11'),
  })}`,
)}
${begin('erase', say('What says who the person is goes, everywhere. It cannot be undone.'), '')}</section>`;
}
