/** What the box finds: persons by number, name, telephone or member code, cooperatives by code or name. */
import { parseMemberName } from '../../app/member-names.ts';
import type { CooperativeSummary } from '../../domain/membership/cooperatives.ts';
import { isIdentityCard } from '../../domain/membership/identity-card.ts';
import { parseMobile } from '../../domain/membership/mobile.ts';
import { FieldError } from '../../domain/values/errors.ts';
import type { Text } from '../../domain/values/message.ts';
import { parseSearch } from '../../domain/values/search-words.ts';
import { parseNamedCode } from '../../domain/values/text.ts';
import type { HeldDataStore } from '../../store/contract/journal/held-data.ts';
import type { RegistryStore } from '../../store/contract/registry.ts';
import type { Visit } from '../visit/screen.ts';

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
}

const NOTHING: FoundThings = { members: [], memberCount: 0, cooperatives: [] };

/** @param text as it was typed */
export async function find(visit: Visit, text: string): Promise<FoundThings> {
  const digits = text.replace(/[\s.-]/g, '');
  const held = visit.use((storage) => storage.openHeldData());
  const registry = visit.use((storage) => storage.openRegistry());
  const stores = { held, registry };
  if (isIdentityCard(digits)) {
    const number = { identityCard: digits };
    return { ...byMembers(stores, held.findMembers(number)), ...number };
  }
  if (text.includes('/')) return byMemberCode(stores, text);
  const mobile = parseMobile(text);
  if (typeof mobile === 'string') {
    const { rows, count } = await registry.members.list({ mobile }, { page: 1, pageSize: SHOWN });
    const found = byMembers(stores, rows);
    return { ...found, memberCount: count };
  }
  return await byWords(stores, text);
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
  const found = stores.held.findMembers(name);
  const upper = { ...name, memberCode: name.memberCode?.toUpperCase() ?? '' };
  const members = found.length > 0 ? found : stores.held.findMembers(upper);
  const number = name.identityCard === undefined ? {} : { identityCard: name.identityCard };
  return { ...byMembers(stores, members), ...number };
}

async function byWords({ held, registry }: Stores, text: string): Promise<FoundThings> {
  const page = { page: 1, pageSize: SHOWN };
  const code = parseNamedCode(text);
  const byCode = typeof code === 'string' ? await registry.cooperatives.list({ code }, page) : undefined;
  const words = parseSearch(text);
  if (words instanceof FieldError)
    return { ...NOTHING, ...(byCode?.count ? { cooperatives: byCode.rows } : { fault: words.text }) };
  const byName = await registry.cooperatives.list({ search: words }, page);
  const named = held.searchMembers(words);
  const found = byMembers({ held, registry }, named);
  const cooperatives = [...(byCode?.rows ?? []), ...byName.rows];
  return { ...found, cooperatives: cooperatives.filter((each, i) => !isBefore(cooperatives, each, i)) };
}

const isBefore = (all: readonly CooperativeSummary[], { id }: CooperativeSummary, place: number): boolean =>
  all.findIndex((each) => each.id === id) < place;
