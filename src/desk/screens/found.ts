/** `/found/…`: what a search has found. */
import { say } from '../../domain/values/message.ts';
import { html } from '../../html/html.ts';
import { nameOf } from '../page/names.ts';
import { table } from '../page/parts.ts';
import type { Screen, Shows, Visit } from '../visit/screen.ts';
import { type FoundThings, find } from './find.ts';

export const FOUND: Screen = {
  path: '/found/:search',
  title: say('Search'),
  personal: 'some',
  async read(visit) {
    const text = visit.session.searches.find(Number(visit.places.search));
    if (text === undefined) return undefined;
    const found = await find(visit, text);
    const { members, cooperatives } = found;
    const shows = shownOf(found);
    const persons = new Set(members.map(({ identityCard }) => identityCard));
    const [first] = persons;
    // One person or cooperative needs no list, however many memberships were found.
    if (first !== undefined && persons.size === 1 && cooperatives.length === 0 && found.areSimilar !== true)
      return { goTo: `/person/${visit.session.persons.of(first)}`, shows };
    const [one, ...others] = cooperatives;
    if (one !== undefined && others.length === 0 && members.length === 0)
      return { goTo: `/cooperative/${one.code}`, shows };
    return { body: body(visit, text, found), shows, searched: text };
  },
};

/** That nobody has a national ID is an answer about whoever it belongs to. */
function shownOf({ members, identityCard }: FoundThings): Shows | 'nobody' {
  if (members.length === 0 && identityCard === undefined) return 'nobody';
  const subject = {
    ...(identityCard !== undefined && { identityCards: [identityCard] }),
    ...(members.length > 0 && { memberIds: members.map(({ id }) => id) }),
  };
  return { fields: ['identity'], subject };
}

function body(visit: Visit, text: string, found: FoundThings) {
  const { members, memberCount, cooperatives, fault, areSimilar } = found;
  const more = memberCount - members.length;
  const isNothing = members.length === 0 && cooperatives.length === 0;
  return html`<h1>${visit.say('Found for “{text}”', { text })}</h1>
${fault !== undefined && html`<p>${visit.translate(fault)}</p>`}
${
  isNothing &&
  fault === undefined &&
  html`<p>${visit.say('Nothing was found. Beginnings of words are enough: muka esp.')}</p>`
}
${
  cooperatives.length > 0 &&
  html`<h2>${visit.say('Cooperatives')}</h2><ul class="hits">${cooperatives.map(
    ({ code, name }) => html`<li><a href="/cooperative/${code}">${name}</a> <small>${code}</small></li>`,
  )}</ul>`
}
${
  areSimilar === true &&
  html`<p>${visit.say(
    'Nothing is spelled exactly so. These are similar: one letter or digit is another.',
  )}</p>`
}
${members.length > 0 && html`<h2>${visit.say('Persons')}</h2>${membersTable(visit, members)}`}
${
  more > 0 &&
  html`<p>${visit.say('{n} more are not shown: give more words.', { n: visit.write.number(more) })}</p>`
}`;
}

const membersTable = (visit: Visit, members: FoundThings['members']) =>
  table(
    visit.say('Persons'),
    [
      visit.translate(nameOf('full_name')),
      visit.translate(nameOf('cooperative')),
      visit.translate(nameOf('member_code')),
      visit.translate(nameOf('status')),
    ].map((heading) => ({ heading })),
    members.map(({ identityCard, fullName, cooperativeCode, memberCode, status }) => [
      html`<a class="hit" href="/person/${visit.session.persons.of(identityCard)}">${fullName}</a>`,
      cooperativeCode,
      memberCode,
      visit.translate(nameOf(status)),
    ]),
  );
