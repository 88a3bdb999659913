/** What the box finds: persons by number, name, telephone or member code, cooperatives by code or name. */
import { parseMemberName } from '../../app/member-names.ts';
import type { CooperativeSummary } from '../../domain/membership/cooperatives.ts';
import { isIdentityCard } from '../../domain/membership/identity-card.ts';
import { parseMobile } from '../../domain/membership/mobile.ts';
import { FieldError } from '../../domain/values/errors.ts';
import { say, type Text } from '../../domain/values/message.ts';
import { hasWordsOf, parseSearch, splitShortWords } from '../../domain/values/search-words.ts';
import { parseNamedCode } from '../../domain/values/text.ts';
import { withOneWrongDigit } from '../../domain/values/typos.ts';
import type { HeldDataStore } from '../../store/contract/journal/held-data.ts';
import type { RegistryStore } from '../../store/contract/registry.ts';
import type { Visit } from '../visit/screen.ts';

/** Beyond them, a digit that was typed wrong says nothing. */
const MOST_SIMILAR_NUMBERS = 5;
/** Rows that a person reads; the rest is counted. */
const SHOWN = 50;

export interface FoundMembership {
  readonly id: number;
  readonly identityCard: string;
  readonly fullName: string;
  readonly cooperativeCode: string;
  readonly memberCode: string;
  readonly status: string;
}

export interface FoundThings {
  readonly members: readonly FoundMembership[];
  /** With those that are not shown. */
  readonly memberCount: number;
  readonly cooperatives: readonly CooperativeSummary[];
  /** The national ID that was asked for, whether anybody has it or not. */
  readonly identityCard?: string;
  /** Why a text cannot be searched for. */
  readonly fault?: Text;
  /** Nothing is exactly so: these have one letter or digit that is another. */
  readonly areSimilar?: true;
}

const NEARLY_A_NUMBER = /^\d{13,19}$/;
const NOTHING: FoundThings = { members: [], memberCount: 0, cooperatives: [] };

/** @param text as it was typed */
export async function find(visit: Visit, text: string): Promise<FoundThings> {
  const digits = text.replace(/[\s.-]/g, '');
  const held = visit.use((storage) => storage.openHeldData());
  const registry = visit.use((storage) => storage.openRegistry());
  const stores = { held, registry };
  if (isIdentityCard(digits)) {
    const number = { identityCard: digits };
    const members = held.findMembers(number);
    return {
      ...(members.length > 0 ? byMembers(stores, members) : bySimilarNumber(stores, digits)),
      ...number,
    };
  }
  if (text.includes('/')) return byMemberCode(stores, text);
  const mobile = parseMobile(text);
  if (typeof mobile === 'string') {
    const { rows, count } = await registry.members.list({ mobile }, { page: 1, pageSize: SHOWN });
    const found = byMembers(stores, rows);
    return { ...found, memberCount: count };
  }
  // Seeks in each cooperative: words without a digit are names.
  const coded = /\d/.test(text) ? held.findMembers({ memberCode: text, reference: text, isTyped: true }) : [];
  if (coded.length === 0 && NEARLY_A_NUMBER.test(digits))
    return {
      ...NOTHING,
      fault: say('A national ID has 16 digits; this number has {count}.', { count: digits.length }),
    };
  const { fault, ...named } = await byWords(stores, text);
  // Of a code that nobody has, it says nothing that its words are short.
  if (coded.length === 0) return fault === undefined || /\d/.test(text) ? named : { ...named, fault };
  return { ...byMembers(stores, coded), cooperatives: named.cooperatives };
}

/** A number of which one digit was typed wrong, or two were swapped; where many have one, none is meant. */
function bySimilarNumber(stores: Stores, digits: string): FoundThings {
  const numbers = stores.held.listHeldNumbers(withOneWrongDigit(digits));
  if (numbers.length === 0 || numbers.length > MOST_SIMILAR_NUMBERS) return NOTHING;
  const members = numbers.flatMap((identityCard) => stores.held.findMembers({ identityCard }));
  return { ...byMembers(stores, members), areSimilar: true };
}

interface Stores {
  readonly held: HeldDataStore;
  readonly registry: RegistryStore;
}

function byMembers({ registry }: Stores, found: readonly { readonly id: number }[]): FoundThings {
  const members: FoundMembership[] = [];
  for (const { id } of found.slice(0, SHOWN)) {
    const member = registry.members.find(id);
    if (member !== undefined && isIdentityCard(member.identityCard)) members.push(member);
  }
  return { members, memberCount: found.length, cooperatives: [] };
}

function byMemberCode(stores: Stores, text: string): FoundThings {
  const name = parseMemberName(text);
  if (name === undefined) return NOTHING;
  const members = stores.held.findMembers({ ...name, isTyped: true });
  const number = name.identityCard === undefined ? {} : { identityCard: name.identityCard };
  return { ...byMembers(stores, members), ...number };
}

async function byWords({ held, registry }: Stores, text: string): Promise<FoundThings> {
  const page = { page: 1, pageSize: SHOWN };
  const code = parseNamedCode(text);
  const byCode = held
    .listCooperatives()
    .filter((each) => typeof code === 'string' && each.code.startsWith(code))
    .slice(0, SHOWN);
  const { text: long, short } = splitShortWords(text);
  const words = /[\p{L}\p{N}]/u.test(text) ? parseSearch(long) : new FieldError(NO_WORDS);
  if (words instanceof FieldError)
    return { ...NOTHING, ...(byCode.length > 0 ? { cooperatives: byCode } : { fault: words.text }) };
  const byName = await registry.cooperatives.list({ search: words }, page);
  const named = held.searchMembers(words).filter(({ fullName }) => hasWordsOf(fullName, short));
  const found = byMembers({ held, registry }, named);
  const all = [...byCode, ...byName.rows.filter(({ name }) => hasWordsOf(name, short))];
  const cooperatives = all.filter((each, i) => !isBefore(all, each, i));
  if (found.memberCount > 0 || cooperatives.length > 0) return { ...found, cooperatives };
  const similar = held.listSimilar(words, SHOWN).map((id) => ({ id }));
  return { ...byMembers({ held, registry }, similar), ...(similar.length > 0 ? { areSimilar: true } : {}) };
}

const NO_WORDS = say('Search for letters or digits: a name, a number, a code.');

const isBefore = (all: readonly CooperativeSummary[], { id }: CooperativeSummary, place: number): boolean =>
  all.findIndex((each) => each.id === id) < place;
