/** Pages of members who may be one person, and of persons who may be several people (docs/correcting.md). */

import { pageNumber, pages, rowsOf } from '../../desk/list.ts';
import { failure, form, numberInput, select, workUnderWay } from '../../desk/parts.ts';
import type { Action, Continuation, Form, Page, Screen, Shows, Visit } from '../../desk/screen.ts';
import { deskFilesOf } from '../../import/pages/desk-files.ts';
import { runAs, type Work } from '../../import/pages/previews-and-runs.ts';
import { numberOf, textOf } from '../../registry/pages/show-stored-values.ts';
import { openStoredData, type StoredDataStore } from '../../registry/stored/stored-data.ts';
import type { StoredMembership } from '../../registry/stored/stored-data-types.ts';
import { type Html, html } from '../../values/html.ts';
import { asMessage, type Message, say } from '../../values/message.ts';
import type { Crowd, Likeness } from '../likeness.ts';
import { compared, nameOfSide } from './member-values.ts';
import { comparedMembers, type Proposal, proposeCorrection } from './propose-correction.ts';

const PAGE_SIZE = 10;

/** Search in a separate process. */
interface Search<Results, Group> {
  readonly work: Work;
  readonly path: string;
  readonly title: Message;
  readonly progress: Message;
  /** Number of persons in a group. A group with a different number was resolved since the search. */
  readonly persons: 1 | 2;
  /** Returns the array of the groups in the results. Resolved groups are removed from this array. */
  readonly groupsOf: (results: Results) => Group[];
  readonly summary: (visit: Visit, results: Results) => Html;
  readonly section: (visit: Visit, group: Group, sides: readonly StoredMembership[]) => Html;
}

interface FoundGroup {
  readonly members: readonly { readonly id: number }[];
}

const readResults =
  <Results, Group extends FoundGroup>(search: Search<Results, Group>) =>
  (visit: Visit): Page => {
    const { work, path } = search;
    const { commands } = deskFilesOf(visit);
    const heading = html`<h1>${visit.translate(search.title)}</h1>`;
    const run = commands.lastOf(work) ?? commands.startWork(work, [], runAs(visit));
    if (run.isAtWork)
      return { ...workUnderWay(visit, heading, visit.translate(search.progress), run), shows: 'nobody' };
    const results = run.document as Results | undefined;
    if (results === undefined)
      return { body: html`${heading}${failure(visit, run)}${again(visit, path)}`, shows: 'nobody' };
    const groups = search.groupsOf(results);
    const page = { page: pageNumber(visit.query, 'page'), pageSize: PAGE_SIZE };
    const store = visit.use(openStoredData);
    const unresolved = rowsOf(page, groups).flatMap((group) => {
      const sides = readSides(store, group);
      const numbers = new Set(sides?.map(({ member }) => textOf(member, 'identity_card')));
      return sides !== undefined && numbers.size === search.persons ? [{ group, sides }] : [];
    });
    const body = html`${heading}${search.summary(visit, results)}
${again(visit, path, run.startedAt)}
${unresolved.map(({ group, sides }) => search.section(visit, group, sides))}
${pages(visit, path, groups.length, page)}`;
    const shown = unresolved.flatMap(({ sides }) => sides);
    return { body, shows: shown.length === 0 ? 'nobody' : showing(shown) };
  };

/** @returns undefined if a member of the group was merged or erased since the search */
function readSides(store: StoredDataStore, { members }: FoundGroup): readonly StoredMembership[] | undefined {
  const sides = members.flatMap(({ id }) => store.findMembership(id) ?? []);
  return sides.length === members.length ? sides : undefined;
}

/** Proposes a correction of a group. Once the correction is made, removes the group from the results. */
function resolve<Results, Group extends FoundGroup>(
  visit: Visit,
  submitted: Form,
  { work, path, groupsOf }: Search<Results, Group>,
  members: readonly number[],
  proposal: Omit<Proposal, 'path' | 'back'>,
): Page | Continuation {
  const answer = proposeCorrection(visit, submitted, { ...proposal, path, back: path });
  const results = deskFilesOf(visit).commands.lastOf(work)?.document as Results | undefined;
  if (!('goTo' in answer) || results === undefined) return answer;
  const groups = groupsOf(results);
  const place = groups.findIndex((group) => members.every((id, i) => group.members[i]?.id === id));
  if (place !== -1) groups.splice(place, 1);
  return answer;
}

const searchAgain =
  ({ work, path }: Pick<typeof PAIRS | typeof PERSONS, 'work' | 'path'>): Action =>
  (visit) => {
    deskFilesOf(visit).commands.startWork(work, [], runAs(visit));
    return { goTo: path };
  };

/** @param at time of the search, in epoch seconds */
const again = (visit: Visit, path: string, at?: number): Html =>
  form(visit, {
    path,
    action: 'again',
    look: 'plain',
    button: visit.say('Search again'),
    body:
      at === undefined
        ? ''
        : html`<p>${visit.say('Searched at {at}; later records were not compared.', {
            at: visit.write.moment(at),
          })}</p>`,
  });

const showing = (sides: readonly StoredMembership[]): Shows => ({
  fields: ['identity', 'contact'],
  subject: { memberIds: sides.map(({ member }) => numberOf(member, 'id')) },
});

// `/duplicates`: pairs of members who may be one person

type Ids = readonly [from: number, into: number];

interface FoundPair extends Likeness {
  readonly members: readonly [from: { readonly id: number }, into: { readonly id: number }];
}

interface FoundPairs {
  readonly pairs: FoundPair[];
  readonly dropped: number;
  readonly dismissed: number;
  readonly not_compared: readonly Crowd[];
}

const PAIRS: Search<FoundPairs, FoundPair> = {
  work: 'duplicates',
  path: '/duplicates',
  title: say('Duplicates'),
  progress: say('Searching for possible duplicates…'),
  persons: 2,
  groupsOf: ({ pairs }) => pairs,
  section: onePair,
  summary({ say }, { pairs, dropped, dismissed, not_compared: crowds }) {
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
<p><a href="${PERSONS.path}">${say('Conflicting records')}</a></p>`;
  },
};

function onePair(visit: Visit, pair: FoundPair, sides: readonly StoredMembership[]): Html {
  const { say, translate } = visit;
  const { members, score, reasons } = pair;
  const [from, into] = members;
  const hidden = { from: String(from.id), into: String(into.id) };
  const [fromName, intoName] = sides.map(nameOfSide) as [string, string];
  const numberOfSide = ({ member }: StoredMembership) =>
    [textOf(member, 'id'), `${textOf(member, 'identity_card')} (${nameOfSide({ member })})`] as const;
  return html`<section class="card pair"><h2>${fromName} · ${intoName}</h2>
<p>${say('Likeness {score} of 100:', { score })}
${reasons.map((reason) => translate(asMessage(reason))).join(', ')}</p>
${compared(visit, sides)}
<div class="forms beside">
${
  new Set(sides.map(({ member }) => member.cooperative)).size === 1 &&
  form(visit, {
    path: PAIRS.path,
    action: 'merge',
    hidden,
    button: say('Merge…'),
    body: html`<p>${say('One person, registered twice here: {from} is merged into {into}.', {
      from: fromName,
      into: intoName,
    })}</p>`,
  })
}
${form(visit, {
  path: PAIRS.path,
  action: 'number',
  hidden,
  button: say('Replace the wrong number…'),
  body: select('right', say('One person; the right national ID is'), sides.toReversed().map(numberOfSide)),
})}
${form(visit, {
  path: PAIRS.path,
  action: 'dismiss',
  hidden,
  button: say('Set aside…'),
  body: html`<p>${say('Two people: the pair is not shown again.')}</p>`,
})}</div></section>`;
}

function act(
  heading: Message,
  prepare: (ids: Ids, sides: readonly StoredMembership[], right: string) => Proposal['run'],
): Action {
  return (visit, submitted) => {
    const [from, into, right] = [submitted.get('from'), submitted.get('into'), submitted.get('right')];
    const ids: Ids = [Number(from), Number(into)];
    const action = submitted.get('action');
    const sides = readSides(visit.use(openStoredData), { members: ids.map((id) => ({ id })) });
    if (sides === undefined) return undefined;
    return resolve(visit, submitted, PAIRS, ids, {
      heading,
      action,
      values: { from, into, right },
      shows: showing(sides),
      seen: sides
        .filter(({ member }) => textOf(member, 'id') === right)
        .map(({ member }) => [visit.say('The right national ID'), textOf(member, 'identity_card')]),
      run: prepare(ids, sides, right),
      compared: action === 'merge' ? comparedMembers(visit, ids) : undefined,
    });
  };
}

export const DUPLICATES: Screen = {
  path: PAIRS.path,
  title: PAIRS.title,
  menu: PAIRS.title,
  personal: 'some',
  read: readResults(PAIRS),
  actions: {
    again: searchAgain(PAIRS),
    merge: act(say('Merge two memberships'), ([fromId, intoId]) => {
      return (store, options) => store.run('mergeMembers', { fromId, intoId }, options);
    }),
    number: act(say('Correct the national ID'), ([from], sides, right) => {
      const [one, other] = sides.map(({ member }) => textOf(member, 'identity_card')) as [string, string];
      const values = right === String(from) ? { old: other, current: one } : { old: one, current: other };
      return (store, options) => store.run('replaceIdentityCard', values, options);
    }),
    dismiss: act(say('Set the pair aside'), ([oneId, otherId]) => {
      return (store, options) => store.run('dismissDuplicate', { oneId, otherId }, options);
    }),
  },
};

// `/duplicates/contradictions`: persons with conflicting memberships (docs/correcting.md)

interface FoundPerson extends FoundGroup {
  readonly contradictions: readonly string[];
}

interface FoundPersons {
  readonly persons: FoundPerson[];
  readonly accepted: number;
  readonly dropped: number;
}

const PERSONS: Search<FoundPersons, FoundPerson> = {
  work: 'contradictions',
  path: '/duplicates/contradictions',
  title: say('Conflicting records'),
  progress: say('Searching for conflicting records…'),
  persons: 1,
  groupsOf: ({ persons }) => persons,
  section: onePerson,
  summary: ({ say }, { persons, accepted, dropped }) => html`<p>${
    persons.length === 0
      ? say('No conflicting records were found.')
      : say('{n|# person has|# persons have} conflicting records.', { n: persons.length })
  } ${dropped > 0 && say('{n|# person is|# persons are} not listed.', { n: dropped })}
${accepted > 0 && say('{n|# person was|# persons were} checked before.', { n: accepted })}</p>
<p><a href="${PAIRS.path}">${say('Duplicates')}</a></p>`,
};

export const CONTRADICTIONS: Screen = {
  path: PERSONS.path,
  title: PERSONS.title,
  personal: 'some',
  read: readResults(PERSONS),
  actions: {
    again: searchAgain(PERSONS),
    same(visit, submitted) {
      const member = submitted.get('member');
      const store = visit.use(openStoredData);
      const membership = store.findMembership(Number(member));
      const person = membership && store.findPerson(textOf(membership.member, 'identity_card'));
      if (person === undefined) return undefined;
      const { identityCard: nid, memberships } = person;
      return resolve(visit, submitted, PERSONS, [Number(member)], {
        heading: say('One person, checked'),
        action: 'same',
        values: { member },
        shows: showing(memberships),
        run: (corrections, options) => corrections.run('acceptContradictions', { nid }, options),
      });
    },
  },
};

function onePerson(visit: Visit, { contradictions }: FoundPerson, sides: readonly StoredMembership[]): Html {
  const { say, translate } = visit;
  const [first] = sides.map(({ member }) => member);
  if (first === undefined) return html``;
  const memberships = sides.map((side) => [String(numberOf(side.member, 'id')), nameOfSide(side)] as const);
  return html`<section class="card pair"><h2>${sides.map(nameOfSide).join(' · ')}</h2>
<p>${contradictions.map((text) => translate(asMessage(text))).join(', ')}</p>
${compared(visit, sides)}
<div class="forms beside">
${form(visit, {
  path: `/person/${visit.session.persons.of(textOf(first, 'identity_card'))}`,
  action: 'number',
  button: say('Another number…'),
  body: [
    select('memberId', say('Two people; the wrong number is that of'), memberships.toReversed()),
    numberInput(visit, { name: 'current', label: say('The right national ID') }),
  ],
})}
${form(visit, {
  path: PERSONS.path,
  action: 'same',
  hidden: { member: textOf(first, 'id') },
  button: say('One person…'),
  body: html`<p>${say('One person, checked: not shown again until the data changes.')}</p>`,
})}</div></section>`;
}
