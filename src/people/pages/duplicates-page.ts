/** `/duplicates`: members who may be one person, pair by pair (docs/correcting.md). */

import { pageNumber, pages, rowsOf } from '../../desk/list.ts';
import { failure, form, numberInput, select, workUnderWay } from '../../desk/parts.ts';
import type { Action, Page, Screen, Shows, Visit } from '../../desk/screen.ts';
import { runAs, type Work } from '../../import/pages/command-run.ts';
import { deskFilesOf } from '../../import/pages/desk-files.ts';
import type { Likeness } from '../../registry/likeness.ts';
import { compared, nameOfSide, numberOf, textOf } from '../../registry/pages/stored-values.ts';
import { openStoredData } from '../../registry/stored/stored-data.ts';
import type { Crowd, StoredMembership } from '../../registry/stored/stored-data-types.ts';
import type { PageRequest } from '../../values/errors.ts';
import { type Html, html } from '../../values/html.ts';
import { asMessage, say } from '../../values/message.ts';
import { comparedMembers, type Proposal, proposeCorrection } from './propose-correction.ts';

// Shared parts of both searches, which run in a process of their own and are shown page by page

const PAGE_SIZE = 10;

interface Search<Found> {
  /** Mutable results: the screen removes those that were resolved since. */
  readonly found: Found;
  /** Epoch seconds. */
  readonly at: number;
}

/** @returns the results; until the search has finished, the page that waits for it or explains a failure */
function searchFor<Found>(
  visit: Visit,
  work: Work,
  path: string,
  heading: Html,
  sentence: string,
): Search<Found> | Page {
  const { commands } = deskFilesOf(visit);
  const run = commands.workOf(work) ?? commands.startWork(work, [], runAs(visit));
  if (run.isAtWork) return { ...workUnderWay(visit, heading, sentence, run), shows: 'nobody' };
  const found = run.document as Found | undefined;
  if (found === undefined)
    return { body: html`${heading}${failure(visit, run)}${again(visit, path)}`, shows: 'nobody' };
  return { found, at: run.startedAt };
}

const searchAgain =
  (work: Work, path: string): Action =>
  (visit) => {
    deskFilesOf(visit).commands.startWork(work, [], runAs(visit));
    return { goTo: path };
  };

/** @param at time of the search in epoch seconds */
export const again = (visit: Visit, path: string, at?: number): Html =>
  form(visit, {
    path,
    action: 'again',
    look: 'plain',
    button: visit.say('Look again'),
    body:
      at === undefined
        ? ''
        : html`<p>${visit.say('Looked for at {at}: what was recorded since is not compared.', {
            at: visit.write.moment(at),
          })}</p>`,
  });

const pageOf = ({ query }: Visit): PageRequest => ({
  page: pageNumber(query, 'page'),
  pageSize: PAGE_SIZE,
});

export const showing = (sides: readonly StoredMembership[]): Shows => ({
  fields: ['identity', 'contact'],
  subject: { memberIds: sides.map(({ member }) => numberOf(member, 'id')) },
});

const PATH = '/duplicates';

export const DUPLICATES: Screen = {
  path: PATH,
  title: say('Duplicates'),
  menu: say('Duplicates'),
  personal: 'some',
  read(visit) {
    const heading = html`<h1>${visit.say('Duplicates')}</h1>`;
    const sentence = visit.say('Looking for members who may be one person…');
    const search = searchFor<FoundPairs>(visit, 'duplicates', PATH, heading, sentence);
    if ('body' in search) return search;
    const { found: all, at } = search;
    const page = pageOf(visit);
    const pairs = readPairs(visit, rowsOf(page, all.pairs));
    const body = html`${heading}${summary(visit, all, at)}
${pairs.map((pair) => onePair(visit, pair))}${pages(visit, PATH, all.pairs.length, page)}`;
    return { body, shows: pairs.length === 0 ? 'nobody' : showing(pairs.flatMap(({ sides }) => sides)) };
  },
  actions: {
    again: searchAgain('duplicates', PATH),
    merge: act(say('Merge two memberships'), (pair) => {
      const [from, into] = pair.sides.map(({ member }) => numberOf(member, 'id')) as [number, number];
      return (store, options) => store.mergeMembers(from, into, options);
    }),
    number: act(say('Correct the national ID'), ({ sides: [from, into] }, right) => {
      const [wrong, current] = right === textOf(from.member, 'id') ? [into, from] : [from, into];
      const numbers = [wrong, current].map(({ member }) => textOf(member, 'identity_card')) as [
        string,
        string,
      ];
      return (store, options) => store.replaceIdentityCard(...numbers, options);
    }),
    dismiss: act(say('Set the pair aside'), (pair) => {
      const [one, other] = pair.sides.map(({ member }) => numberOf(member, 'id')) as [number, number];
      return (store, options) => store.dismissDuplicate(one, other, options);
    }),
  },
};

interface Sides {
  readonly sides: readonly [from: StoredMembership, into: StoredMembership];
}
interface FoundPair extends Likeness {
  /** The member whose loss would cost less comes first. */
  readonly members: readonly [from: { readonly id: number }, into: { readonly id: number }];
}
type Pair = FoundPair & Sides;

/** Output of `duplicates --json`, without the pairs resolved since. */
interface FoundPairs {
  pairs: readonly FoundPair[];
  readonly dropped: number;
  readonly dismissed: number;
  readonly not_compared: readonly Crowd[];
}

function readSides(visit: Visit, fromId: number, intoId: number): Sides | undefined {
  const held = visit.use((storage) => openStoredData(storage));
  const [from, into] = [held.findMembership(fromId), held.findMembership(intoId)];
  return from && into && { sides: [from, into] };
}

/** Pairs that still exist as two people: some may have been resolved elsewhere. */
function readPairs(visit: Visit, pairs: readonly FoundPair[]): Pair[] {
  const found: Pair[] = [];
  for (const pair of pairs) {
    const [from, into] = pair.members;
    const read = readSides(visit, from.id, into.id);
    const [one, other] = read?.sides.map(({ member }) => textOf(member, 'identity_card')) ?? [];
    if (read !== undefined && one !== other) found.push({ ...pair, ...read });
  }
  return found;
}

function summary(
  visit: Visit,
  { pairs, dropped, dismissed, not_compared: crowds }: FoundPairs,
  at: number,
): Html {
  const { say } = visit;
  const uncompared = crowds.reduce((sum, { members }) => sum + members, 0);
  return html`<p>${
    pairs.length === 0
      ? say('No likely duplicates were found.')
      : say('{n|# pair|# pairs} of members may be one person, the likeliest first.', { n: pairs.length })
  } ${dropped > 0 && say('{n|# pair is|# pairs are} less likely than these.', { n: dropped })}
${dismissed > 0 && say('{n|# pair was|# pairs were} set aside before.', { n: dismissed })}
${
  uncompared > 0 &&
  say('{n|# member was|# members were} not compared: too many share a phone, or a name and date of birth.', {
    n: uncompared,
  })
}</p>
<p><a href="${PATH}/contradictions">${visit.say('One person who may be two')}</a></p>
${again(visit, PATH, at)}`;
}

function onePair(visit: Visit, pair: Pair): Html {
  const { say, translate } = visit;
  const { sides, members, score, reasons } = pair;
  const [from, into] = members;
  const hidden = { from: String(from.id), into: String(into.id) };
  const [fromName, intoName] = sides.map(nameOfSide) as [string, string];
  const numberOfSide = ({ member }: StoredMembership) =>
    [textOf(member, 'id'), `${textOf(member, 'identity_card')} (${nameOfSide({ member })})`] as const;
  return html`<section class="card pair"><h2>${fromName} · ${intoName}</h2>
<p>${say('Likeness {score} of 100:', { score })}
${reasons.map((each) => translate(asMessage(each))).join(', ')}</p>
${compared(visit, sides)}
<div class="forms beside">
${
  sides[0].member.cooperative === sides[1].member.cooperative &&
  form(visit, {
    path: PATH,
    action: 'merge',
    hidden,
    button: say('Merge…'),
    body: html`<p>${say('One person, registered twice here: {from} goes, {into} stays.', {
      from: fromName,
      into: intoName,
    })}</p>`,
  })
}
${form(visit, {
  path: PATH,
  action: 'number',
  hidden,
  button: say('Replace the wrong number…'),
  body: select('right', say('One person; the right national ID is'), [...sides].reverse().map(numberOfSide)),
})}
${form(visit, {
  path: PATH,
  action: 'dismiss',
  hidden,
  button: say('Set aside…'),
  body: html`<p>${say('Two people: the pair is not shown again.')}</p>`,
})}</div></section>`;
}

/** Action that proposes a correction of a pair; the pair is removed from the results once it is made. */
function act(heading: Proposal['heading'], prepare: (pair: Sides, right: string) => Proposal['run']): Action {
  return (visit, given) => {
    const { action, from, into, right } = Object.fromEntries(
      ['action', 'from', 'into', 'right'].map((name) => [name, given.get(name)]),
    ) as { readonly [name in 'action' | 'from' | 'into' | 'right']: string };
    const pair = readSides(visit, Number(from), Number(into));
    if (pair === undefined) return undefined;
    const answer = proposeCorrection(visit, given, {
      heading,
      path: PATH,
      action,
      given: { from, into, right },
      back: PATH,
      shows: showing(pair.sides),
      seen: pair.sides
        .filter(({ member }) => textOf(member, 'id') === right)
        .map(({ member }) => [visit.say('The right national ID'), textOf(member, 'identity_card')]),
      run: prepare(pair, right),
      compared: action === 'merge' ? comparedMembers(visit, [Number(from), Number(into)]) : undefined,
    });
    const found = deskFilesOf(visit).commands.workOf('duplicates')?.document as FoundPairs | undefined;
    if ('goTo' in answer && found !== undefined)
      found.pairs = found.pairs.filter(
        ({ members }) => members[0].id !== Number(from) || members[1].id !== Number(into),
      );
    return answer;
  };
}

// `/duplicates/contradictions`: persons whose memberships contradict each other (docs/correcting.md)

const PATH_CONTRADICTIONS = '/duplicates/contradictions';
const HEADING = say('One person who may be two');

interface FoundPerson {
  readonly contradictions: readonly string[];
  readonly members: readonly { readonly id: number }[];
}

/** Output of `duplicates --contradictions --json`, without the persons resolved since. */
interface FoundPersons {
  persons: readonly FoundPerson[];
  readonly accepted: number;
  readonly dropped: number;
}

export const CONTRADICTIONS: Screen = {
  path: PATH_CONTRADICTIONS,
  title: HEADING,
  personal: 'some',
  read(visit) {
    const heading = html`<h1>${visit.translate(HEADING)}</h1>`;
    const sentence = visit.say('Looking for memberships of one person that contradict each other…');
    const search = searchFor<FoundPersons>(visit, 'contradictions', PATH_CONTRADICTIONS, heading, sentence);
    if ('body' in search) return search;
    const { found, at } = search;
    const page = pageOf(visit);
    const persons = readPersons(visit, rowsOf(page, found.persons));
    const body = html`${heading}${summaryContradictions(visit, found, at)}
${persons.map((each) => onePerson(visit, each))}
${pages(visit, PATH_CONTRADICTIONS, found.persons.length, page)}`;
    return { body, shows: persons.length === 0 ? 'nobody' : showing(persons.flatMap(({ sides }) => sides)) };
  },
  actions: {
    again: searchAgain('contradictions', PATH_CONTRADICTIONS),
    same(visit, given) {
      const member = given.get('member');
      const held = visit.use((storage) => openStoredData(storage));
      const found = held.findMembership(Number(member));
      const person = found && held.findPerson(textOf(found.member, 'identity_card'));
      if (person === undefined) return undefined;
      const { identityCard, memberships } = person;
      const answer = proposeCorrection(visit, given, {
        heading: say('One person, checked'),
        path: PATH_CONTRADICTIONS,
        action: 'same',
        given: { member },
        back: PATH_CONTRADICTIONS,
        shows: showing(memberships),
        run: (store, options) => store.acceptContradictions(identityCard, options),
      });
      const search = deskFilesOf(visit).commands.workOf('contradictions')?.document as
        | FoundPersons
        | undefined;
      if ('goTo' in answer && search !== undefined)
        search.persons = search.persons.filter(({ members }) => members[0]?.id !== Number(member));
      return answer;
    },
  },
};

type Person = FoundPerson & { readonly sides: readonly StoredMembership[] };

/** Persons that are still one: some may have been resolved elsewhere. */
function readPersons(visit: Visit, persons: readonly FoundPerson[]): Person[] {
  const held = visit.use((storage) => openStoredData(storage));
  return persons.flatMap((person) => {
    const sides = person.members.flatMap(({ id }) => held.findMembership(id) ?? []);
    const numbers = new Set(sides.map(({ member }) => textOf(member, 'identity_card')));
    return sides.length === person.members.length && numbers.size === 1 ? [{ ...person, sides }] : [];
  });
}

function summaryContradictions(visit: Visit, { persons, accepted, dropped }: FoundPersons, at: number): Html {
  const { say } = visit;
  return html`<p>${
    persons.length === 0
      ? say('No memberships of one person contradict each other.')
      : say('{n|# person has|# persons have} memberships that contradict each other.', { n: persons.length })
  } ${dropped > 0 && say('{n|# person is|# persons are} not listed.', { n: dropped })}
${accepted > 0 && say('{n|# person was|# persons were} checked before.', { n: accepted })}</p>
<p><a href="/duplicates">${say('Duplicates')}</a></p>
${again(visit, PATH_CONTRADICTIONS, at)}`;
}

function onePerson(visit: Visit, { contradictions, sides }: Person): Html {
  const { say, translate } = visit;
  const [first] = sides.map(({ member }) => member);
  if (first === undefined) return html``;
  const memberships = sides.map((side) => [String(numberOf(side.member, 'id')), nameOfSide(side)] as const);
  return html`<section class="card pair"><h2>${sides.map(nameOfSide).join(' · ')}</h2>
<p>${contradictions.map((each) => translate(asMessage(each))).join(', ')}</p>
${compared(visit, sides)}
<div class="forms beside">
${form(visit, {
  path: `/person/${visit.session.persons.of(textOf(first, 'identity_card'))}`,
  action: 'number',
  button: say('Another number…'),
  body: [
    select('memberId', say('Two people; the number is wrong of'), [...memberships].reverse()),
    numberInput(visit, { name: 'current', label: say('The right national ID') }),
  ],
})}
${form(visit, {
  path: PATH_CONTRADICTIONS,
  action: 'same',
  hidden: { member: textOf(first, 'id') },
  button: say('One person…'),
  body: html`<p>${say('One person, checked: not shown again until something of it changes.')}</p>`,
})}</div></section>`;
}
