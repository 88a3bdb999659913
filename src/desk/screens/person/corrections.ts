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
import { FieldError } from '../../../domain/values/errors.ts';
import { type Message, say, type Text } from '../../../domain/values/message.ts';
import { html } from '../../../html/html.ts';
import type { HeldPerson } from '../../../store/contract/journal/held-data.ts';
import { changeLink, enterLink } from '../../page/entered-kinds.ts';
import { numberOf, textOf } from '../../page/held-values.ts';
import { form } from '../../page/parts.ts';
import type { Action, Continuation, Form, Page, Shows, Visit } from '../../visit/screen.ts';
import { atDesk } from '../import/at-desk.ts';
import { comparedMembers, proposeCorrection, refuseGiven } from '../propose-correction.ts';
import { FORMS, HEADINGS, misread, type Name } from './correction-forms.ts';
import type { RowEnd } from './entries.ts';
import { findVisited, pathOf, showing } from './find-visited.ts';

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
  if (value instanceof FieldError) throw new Misread(atDesk(value.text) ?? value.text);
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
        compared: name === 'merge' ? comparedMembers(visit, prepared.names.memberIds) : undefined,
        seen: [
          [visit.say('National ID'), person.identityCard],
          ...names.flatMap((each) => (LABELS[each] ? [labelled(visit, LABELS[each], given.get(each))] : [])),
        ],
      });
    } catch (error) {
      if (!(error instanceof Misread)) throw error;
      const form = FORMS.find((each) => each === name);
      if (form === undefined) return refuseGiven(visit, heading, path, error.text);
      return { body: misread(visit, person, form, given, error.text), shows: showing(person), status: 422 };
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
          ? readOtherMember(visit, given.get(field), person, given.get('fromId'))
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

/** @param text `CODE/MEMBERCODE`, or a member code in the cooperative of the membership that goes */
function readOtherMember(visit: Visit, text: string, { memberships }: HeldPerson, fromId: string): number {
  const from = memberships.find(({ member }) => textOf(member, 'id') === fromId)?.member;
  const isAlone = from !== undefined && !text.includes('/');
  const name = parseMemberName(isAlone ? `${textOf(from, 'cooperative')}/${text}` : text);
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

/**
 * What can be done with an entry: changed, removed, and of a loan that is paid back, a payment recorded.
 * @param person the address of the page of the person
 * @param list that a change goes on with, if not that page
 */
export const entryActions =
  (visit: Visit, person = pathOf(visit), list?: string): RowEnd =>
  (kind, row) => {
    if (textOf(row, 'reference') === '') return false;
    const remove = form(visit, {
      path: person,
      action: 'remove',
      look: 'plain',
      body: '',
      hidden: { kind, cooperative: textOf(row, 'cooperative'), reference: textOf(row, 'reference') },
      button: visit.say('Remove…'),
    });
    const id = textOf(row, 'id');
    return html`<span class="screen">${changeLink(visit, person, kind, id, list)}${
      kind === 'loans' && html` ${enterLink(visit, person, 'payments', id)}`
    } ${kind !== 'payments' && remove}</span>`;
  };
