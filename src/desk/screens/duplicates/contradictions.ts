/** `/duplicates/contradictions`: persons whose memberships contradict each other (docs/correcting.md). */

import { asMessage, say } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import type { HeldMembership } from '../../../store/contract/journal/held-data.ts';
import { compared, nameOfSide } from '../../page/compared.ts';
import { numberOf, textOf } from '../../page/held-values.ts';
import { pages, rowsOf } from '../../page/list.ts';
import { form, numberInput, select } from '../../page/parts.ts';
import type { Screen, Visit } from '../../visit/screen.ts';
import { proposeCorrection } from '../propose-correction.ts';
import { again, pageOf, searchAgain, searchFor, showing } from './search.ts';

const PATH = '/duplicates/contradictions';
const HEADING = say('One person who may be two');

interface FoundPerson {
  readonly contradictions: readonly string[];
  readonly members: readonly { readonly id: number }[];
}

/** What `duplicates --contradictions --json` prints, less the persons that were settled since. */
interface FoundPersons {
  persons: readonly FoundPerson[];
  readonly accepted: number;
  readonly dropped: number;
}

export const CONTRADICTIONS: Screen = {
  path: PATH,
  title: HEADING,
  personal: 'some',
  read(visit) {
    const heading = html`<h1>${visit.translate(HEADING)}</h1>`;
    const sentence = visit.say('Looking for memberships of one person that contradict each other…');
    const search = searchFor<FoundPersons>(visit, 'contradictions', PATH, heading, sentence);
    if ('body' in search) return search;
    const { found, at } = search;
    const page = pageOf(visit);
    const persons = readPersons(visit, rowsOf(page, found.persons));
    const body = html`${heading}${summary(visit, found, at)}
${persons.map((each) => onePerson(visit, each))}${pages(visit, PATH, found.persons.length, page)}`;
    return { body, shows: persons.length === 0 ? 'nobody' : showing(persons.flatMap(({ sides }) => sides)) };
  },
  actions: {
    again: searchAgain('contradictions', PATH),
    same(visit, given) {
      const member = given.get('member');
      const held = visit.use((storage) => storage.openHeldData());
      const found = held.findMembership(Number(member));
      const person = found && held.findPerson(textOf(found.member, 'identity_card'));
      if (person === undefined) return undefined;
      const { identityCard, memberships } = person;
      const answer = proposeCorrection(visit, given, {
        heading: say('One person, checked'),
        path: PATH,
        action: 'same',
        given: { member },
        back: PATH,
        shows: showing(memberships),
        run: (store, options) => store.acceptContradictions(identityCard, options),
      });
      const search = visit.desk.files.commands.workOf('contradictions')?.document as FoundPersons | undefined;
      if ('goTo' in answer && search !== undefined)
        search.persons = search.persons.filter(({ members }) => members[0]?.id !== Number(member));
      return answer;
    },
  },
};

type Person = FoundPerson & { readonly sides: readonly HeldMembership[] };

/** Those that still are one: somebody may have settled one elsewhere. */
function readPersons(visit: Visit, persons: readonly FoundPerson[]): Person[] {
  const held = visit.use((storage) => storage.openHeldData());
  return persons.flatMap((person) => {
    const sides = person.members.flatMap(({ id }) => held.findMembership(id) ?? []);
    const numbers = new Set(sides.map(({ member }) => textOf(member, 'identity_card')));
    return sides.length === person.members.length && numbers.size === 1 ? [{ ...person, sides }] : [];
  });
}

function summary(visit: Visit, { persons, accepted, dropped }: FoundPersons, at: number): Html {
  const { say } = visit;
  return html`<p>${
    persons.length === 0
      ? say('No memberships of one person contradict each other.')
      : say('{n|# person has|# persons have} memberships that contradict each other.', { n: persons.length })
  } ${dropped > 0 && say('{n|# person is|# persons are} not listed.', { n: dropped })}
${accepted > 0 && say('{n|# person was|# persons were} checked before.', { n: accepted })}</p>
<p><a href="/duplicates">${say('Duplicates')}</a></p>
${again(visit, PATH, at)}`;
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
  path: PATH,
  action: 'same',
  hidden: { member: textOf(first, 'id') },
  button: say('One person…'),
  body: html`<p>${say('One person, checked: not shown again until something of it changes.')}</p>`,
})}</div></section>`;
}
