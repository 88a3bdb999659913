/** Start page of the desk, and results of a search for persons and cooperatives. */

import { findBox } from '../desk/layout.ts';
import { fields, table } from '../desk/parts.ts';
import type { Screen, Shows, Visit } from '../desk/screen.ts';
import { attention, readVisitedFacts } from '../health/health-page.ts';
import type { ReadAdded, StatusFacts } from '../health/registry-status.ts';
import { findIssues } from '../health/status-warnings.ts';
import { undoneMark, whatOf } from '../journal/imports-text.ts';
import { parseMemberName } from '../journal/named-member.ts';
import type { Operation } from '../journal/operations.ts';
import { openJournal } from '../journal/undo.ts';
import { openRegistry, type RegistryStore } from '../open-registry.ts';
import type { CooperativeSummary } from '../registry/cooperatives.ts';
import type { Member } from '../registry/members.ts';
import type { Search } from '../registry/name-search.ts';
import { nameOf } from '../registry/pages/show-stored-values.ts';
import { openStoredData, type StoredDataStore } from '../registry/stored/stored-data.ts';
import { FieldError } from '../values/errors.ts';
import { type Html, html } from '../values/html.ts';
import { isIdentityCard } from '../values/identity-card.ts';
import { say, type Text } from '../values/message.ts';
import {
  hasWordsOf,
  parseSearch,
  splitShortWords,
  withOneWrongDigit,
} from '../values/search-words-and-typos.ts';
import { parseMobile } from '../values/telephone.ts';
import { parseNamedCode } from '../values/text.ts';

/** Maximum number of similar national IDs. If there are more, none is shown: a clerk could not choose. */
const MOST_SIMILAR_NUMBERS = 5;
const SHOWN = 50;

interface FoundThings {
  readonly members: readonly Member[];
  /** Includes members after the first `SHOWN`. */
  readonly memberCount: number;
  readonly cooperatives: readonly CooperativeSummary[];
  /** National ID in the search text. Perhaps no person has this ID. */
  readonly identityCard?: string;
  readonly fault?: Text;
  /** Set if the results are only similar, because nothing matches exactly. */
  readonly areSimilar?: true;
}

const NEARLY_A_NUMBER = /^\d{13,19}$/;
const NOTHING: FoundThings = { members: [], memberCount: 0, cooperatives: [] };

async function find(visit: Visit, search: Search | undefined, text: string): Promise<FoundThings> {
  const digits = text.replace(/[\s.-]/g, '');
  const stored = visit.use(openStoredData);
  const registry = visit.use(openRegistry);
  const names = search && visit.use((storage) => search.openNameSearch(storage));
  const stores = { stored, registry, names };
  if (isIdentityCard(digits)) {
    const number = { identityCard: digits };
    const members = stored.findMembers(number);
    return {
      ...(members.length > 0 ? byMembers(registry, members) : bySimilarNumber(stores, digits)),
      ...number,
    };
  }
  if (text.includes('/')) return byMemberCode(stores, text);
  const mobile = parseMobile(text);
  if (typeof mobile === 'string') {
    const { rows, count } = await registry.members.list({ mobile }, { page: 1, pageSize: SHOWN });
    return { ...byMembers(registry, rows), memberCount: count };
  }
  // Only texts with a digit are searched as codes: this search is slow, since it reads each cooperative.
  const typedCode = { memberCode: text, reference: text, isTyped: true } as const;
  const coded = /\d/.test(text) ? stored.findMembers(typedCode) : [];
  if (coded.length === 0 && NEARLY_A_NUMBER.test(digits))
    return {
      ...NOTHING,
      fault: say('A national ID has 16 digits; this number has {count}.', { count: digits.length }),
    };
  const { fault, ...byNames } = await byWords(stores, text);
  // A text with a digit may be an unknown code. A message about words that are too short would be misleading.
  if (coded.length === 0) return fault === undefined || /\d/.test(text) ? byNames : { ...byNames, fault };
  return { ...byMembers(registry, coded), cooperatives: byNames.cooperatives };
}

/** Finds members whose national ID differs in one digit or two swapped digits. Finds none if many do. */
function bySimilarNumber({ stored, registry }: Stores, digits: string): FoundThings {
  const numbers = stored.listHeldNumbers(withOneWrongDigit(digits));
  if (numbers.length === 0 || numbers.length > MOST_SIMILAR_NUMBERS) return NOTHING;
  const members = numbers.flatMap((identityCard) => stored.findMembers({ identityCard }));
  return { ...byMembers(registry, members), areSimilar: true };
}

interface Stores {
  readonly stored: StoredDataStore;
  readonly names: ReturnType<Search['openNameSearch']> | undefined;
  readonly registry: RegistryStore;
}

function byMembers(registry: RegistryStore, results: readonly { readonly id: number }[]): FoundThings {
  const members: Member[] = [];
  for (const { id } of results.slice(0, SHOWN)) {
    const member = registry.members.find(id);
    if (member !== undefined && isIdentityCard(member.identityCard)) members.push(member);
  }
  return { members, memberCount: results.length, cooperatives: [] };
}

function byMemberCode({ stored, registry }: Stores, text: string): FoundThings {
  const name = parseMemberName(text);
  if (name === undefined) return NOTHING;
  const members = stored.findMembers({ ...name, isTyped: true });
  const number = name.identityCard === undefined ? {} : { identityCard: name.identityCard };
  return { ...byMembers(registry, members), ...number };
}

async function byWords({ stored, names, registry }: Stores, text: string): Promise<FoundThings> {
  const page = { page: 1, pageSize: SHOWN };
  const code = parseNamedCode(text);
  const byCode = stored
    .listCooperatives()
    .filter((each) => typeof code === 'string' && each.code.startsWith(code))
    .slice(0, SHOWN);
  const { text: long, short } = splitShortWords(text);
  const words = /[\p{L}\p{N}]/u.test(text) ? parseSearch(long) : new FieldError(NO_WORDS);
  if (words instanceof FieldError)
    return { ...NOTHING, ...(byCode.length > 0 ? { cooperatives: byCode } : { fault: words.text }) };
  const byName = await registry.cooperatives.list({ search: words }, page);
  const byNames = (names?.searchMembers(words) ?? []).filter(({ fullName }) => hasWordsOf(fullName, short));
  const results = byMembers(registry, byNames);
  const all = [...byCode, ...byName.rows.filter(({ name }) => hasWordsOf(name, short))];
  const cooperatives = [...new Map(all.map((cooperative) => [cooperative.id, cooperative])).values()];
  if (results.memberCount > 0 || cooperatives.length > 0) return { ...results, cooperatives };
  const similar = (names?.listSimilar(words, SHOWN) ?? []).map((id) => ({ id }));
  return { ...byMembers(registry, similar), ...(similar.length > 0 ? { areSimilar: true } : {}) };
}

const NO_WORDS = say('Search for letters or digits: a name, a number, a code.');

/** @param search if undefined, persons are found only by numbers and codes */
export const foundPage = (search: Search | undefined): Screen => ({
  path: '/found/:search',
  title: say('Search'),
  personal: 'some',
  async read(visit) {
    const text = visit.session.searches.find(Number(visit.places.search));
    if (text === undefined) return undefined;
    const results = await find(visit, search, text);
    const { members, cooperatives } = results;
    const shows = shownOf(results);
    const persons = new Set(members.map(({ identityCard }) => identityCard));
    const [first] = persons;
    // A single person, even with several memberships, or a single cooperative needs no list.
    if (first !== undefined && persons.size === 1 && cooperatives.length === 0 && results.areSimilar !== true)
      return { goTo: `/person/${visit.session.persons.of(first)}`, shows };
    const [one, ...others] = cooperatives;
    if (one !== undefined && others.length === 0 && members.length === 0)
      return { goTo: `/cooperative/${one.code}`, shows };
    return { body: body(visit, text, results), shows, searched: text };
  },
});

/** Even the result that a national ID is not registered concerns a person. */
function shownOf({ members, identityCard }: FoundThings): Shows | 'nobody' {
  if (members.length === 0 && identityCard === undefined) return 'nobody';
  const subject = {
    ...(identityCard !== undefined && { identityCards: [identityCard] }),
    ...(members.length > 0 && { memberIds: members.map(({ id }) => id) }),
  };
  return { fields: ['identity'], subject };
}

function body(visit: Visit, text: string, results: FoundThings) {
  const { members, memberCount, cooperatives, fault, areSimilar } = results;
  const more = memberCount - members.length;
  const isNothing = members.length === 0 && cooperatives.length === 0;
  return html`<h1>${visit.say('Results for “{text}”', { text })}</h1>
${fault !== undefined && html`<p>${visit.translate(fault)}</p>`}
${
  isNothing &&
  fault === undefined &&
  html`<p>${visit.say('No results. The beginnings of words are enough: muka esp.')}</p>`
}
${
  cooperatives.length > 0 &&
  html`<h2>${visit.say('Cooperatives')}</h2><ul class="hits">${cooperatives.map(
    ({ code, name }) => html`<li><a href="/cooperative/${code}">${name}</a> <small>${code}</small></li>`,
  )}</ul>`
}
${
  areSimilar === true &&
  html`<p>${visit.say('There is no exact match. These are similar: one letter or digit differs.')}</p>`
}
${members.length > 0 && html`<h2>${visit.say('Persons')}</h2>${membersTable(visit, members)}`}
${more > 0 && html`<p>${visit.say('{n} more results: add words.', { n: visit.write.number(more) })}</p>`}`;
}

const membersTable = (visit: Visit, members: FoundThings['members']) =>
  table(
    visit.say('Persons'),
    ['full_name', 'cooperative', 'member_code', 'status'].map((field) => ({
      heading: visit.translate(nameOf(field)),
    })),
    members.map(({ identityCard, fullName, cooperativeCode, memberCode, status }) => [
      html`<a class="hit" href="/person/${visit.session.persons.of(identityCard)}">${fullName}</a>`,
      cooperativeCode,
      memberCode,
      visit.translate(nameOf(status)),
    ]),
  );

const SHOWN_OPERATIONS = 6;

export const startPage = (added: readonly ReadAdded[]): Screen => ({
  path: '/',
  title: say('Start'),
  menu: say('Start'),
  personal: 'none',
  async read(visit) {
    const facts = await readVisitedFacts(visit, added);
    const operations = visit.use(openJournal).list({ limit: SHOWN_OPERATIONS });
    const body = html`<h1 class="unseen">${visit.say('Start')}</h1>
<div class="big">${findBox(visit.translate, visit.session.token)}
<small>${visit.say('National ID, name, telephone, KOAKAMA/11')}</small></div>
${attention(visit, findIssues(facts))}
<div class="beside"><section><h2>${visit.say('The registry')}</h2>${registry(visit, facts)}</section>
<section><h2>${visit.say('Last imports and corrections')}</h2>
${lastOperations(visit, operations.toReversed())}</section></div>`;
    return { body };
  },
  actions: {
    find: (visit, form) => {
      const text = form.get('text');
      return text === '' ? { goTo: '/' } : { goTo: `/found/${visit.session.searches.of(text)}` };
    },
  },
});

function registry(visit: Visit, { condition, isServed }: StatusFacts): Html {
  const { rows } = condition;
  const { number } = visit.write;
  return fields([
    [visit.say('Cooperatives'), number(rows.cooperatives)],
    [visit.say('Members'), number(rows.members)],
    [visit.say('Deliveries'), number(rows.deliveries)],
    [visit.say('Loans'), number(rows.loans)],
    [visit.say('Last backup'), html`<a href="/health">${lastBackup(visit, condition)}</a>`],
    [visit.say('Service'), isServed ? visit.say('running') : visit.say('not running')],
  ]);
}

const lastBackup = ({ say, write }: Visit, { lastBackup: last }: StatusFacts['condition']): string =>
  last === null ? say('never') : write.moment(Math.floor(last.instantMs / 1000));

function lastOperations(visit: Visit, operations: readonly Operation[]): Html {
  if (operations.length === 0) return html`<p>${visit.say('None yet.')}</p>`;
  const what = (each: Operation): Html =>
    html`<a href="/imports/${each.id}">${visit.translate(nameOf(each.kind))}</a>
<br><small>${whatOf(visit, each)}${undoneMark(visit, each)}</small>`;
  return table(
    visit.say('Last imports and corrections'),
    [
      { heading: visit.say('What') },
      { heading: visit.say('New'), isNumber: true },
      { heading: visit.say('Changed'), isNumber: true },
      { heading: visit.say('Date and user') },
    ],
    operations.map((each) => [
      what(each),
      visit.write.number(each.created),
      visit.write.number(each.changed),
      html`${visit.write.moment(each.importedAt)}<br><small>${each.systemUser}</small>`,
    ]),
  );
}
