/** What events ask to be read again, and reading it by the public API. */
import { type EmptyAccounts, emptyAccountsOf } from './accounts.ts';
import type { State } from './database.ts';
import { KIND_NAMES, type KindName } from './kinds.ts';
import type { RegistryClient, RegistryEvent, Row } from './registry.ts';

const READ_AT_ONCE = 8;
const ERASED = 'Erased.';

export type EntryKind = 'deliveries' | 'savings_transactions';
const LISTS: { readonly [kind in EntryKind]: string } = {
  deliveries: 'deliveries',
  savings_transactions: 'savings-transactions',
};
export const isEntryKind = (kind: KindName): kind is EntryKind => kind in LISTS;
const ENTRY_KINDS = Object.keys(LISTS) as EntryKind[];
const KIND_OF: { readonly [entity: string]: KindName } = {
  ...{ cooperative: 'cooperatives', member: 'members', loan: 'loans', payment: 'payments' },
};
const SUMMARY_OF: { readonly [field: string]: EntryKind } = {
  ...{ production_summary: 'deliveries', savings_summary: 'savings_transactions' },
};

/** What to read again: numbers by kind, of entries those of their members, with their cooperatives. */
export interface Work {
  readonly rows: { readonly [kind in KindName]: Map<string, string> };
  /** Kinds of which a change is not announced row by row. */
  readonly all: Set<KindName>;
}

/** Entries that come or go with their member have no event of their own, nor have those of erased persons. */
function entriesOf({ type, actor, data }: RegistryEvent): EntryKind[] {
  const isCorrected = /^(?:correction|undo):/.test(actor);
  if (type === 'member.deleted' || (type === 'member.created' && isCorrected)) return ENTRY_KINDS;
  const named = data.fields_changed.flatMap((field) => SUMMARY_OF[field] ?? []);
  // A lookup counts the accounts of active members only.
  return data.fields_changed.includes('status')
    ? [...new Set([...named, ENTRY_KINDS[1] as EntryKind])]
    : named;
}

export function workOf(events: readonly RegistryEvent[], loaded: State['loaded']): Work {
  const rows = Object.fromEntries(KIND_NAMES.map((kind) => [kind, new Map<string, string>()]));
  const all = new Set<KindName>();
  for (const event of events) {
    const { id, cooperative_id: cooperativeId } = event.data;
    const [entity = ''] = event.type.split('.');
    const kind = KIND_OF[entity] as KindName;
    const kinds = entity === 'member' ? [kind, ...entriesOf(event)] : [kind];
    for (const each of kinds) if (event.sequence > (loaded[each] ?? 0)) rows[each]?.set(id, cooperativeId);
    // A cooperative that was merged gives away the entries of erased persons too.
    if (entity === 'cooperative' && /^(?:correction|undo):/.test(event.actor))
      for (const each of ENTRY_KINDS) if (event.sequence > (loaded[each] ?? 0)) all.add(each);
  }
  return { rows: rows as Work['rows'], all };
}

/** What was read: rows to store, and numbers of those that are gone. */
export interface Found {
  readonly kind: KindName;
  readonly rows: Map<string, Row>;
  readonly gone: string[];
  /** Of members whose entries were read: all others of theirs go. */
  readonly owners: string[];
  readonly emptyAccounts: EmptyAccounts;
  /** Cooperatives with entries of persons who were erased, which only an export has. */
  readonly cooperatives: Set<string>;
  hasErased: boolean;
}

const nothingFound = (kind: KindName): Found => ({
  ...{ kind, rows: new Map(), gone: [], owners: [], emptyAccounts: new Map(), cooperatives: new Set() },
  hasErased: false,
});

async function inParallel<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const left = items[Symbol.iterator]();
  const run = async () => {
    for (let next = left.next(); next.done !== true; next = left.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: READ_AT_ONCE }, run));
}

export async function readRows(
  registry: RegistryClient,
  kind: KindName,
  ids: Iterable<string>,
): Promise<Found> {
  const found = nothingFound(kind);
  await inParallel(ids, async (id) => {
    const answer = await registry.read(`/${kind}/${id}`, kind);
    if ('row' in answer) found.rows.set(id, answer.row);
    else found.gone.push(id);
    if ('gone' in answer && answer.gone === ERASED) found.hasErased = true;
  });
  return found;
}

/** @param members by number, with the cooperatives that their events name */
export async function readEntries(
  registry: RegistryClient,
  kind: EntryKind,
  members: Map<string, string>,
): Promise<Found> {
  const found = nothingFound(kind);
  await inParallel(members, async ([id, cooperativeId]) => {
    const list = await registry.readAll(`/members/${id}/${LISTS[kind]}`, kind);
    if ('gone' in list && list.gone === ERASED) {
      found.cooperatives.add(cooperativeId);
      return;
    }
    found.owners.push(id);
    if ('gone' in list) return;
    // A member who has moved on from the cooperative that the event names has another event.
    const owner = { member: { id }, cooperative: { id: cooperativeId } };
    // An entry may come twice, when its member is merged between two reads: an event of that follows.
    for (const row of list.rows) found.rows.set(String(row.id), { ...row, ...owner });
    if (kind === 'savings_transactions')
      found.emptyAccounts.set(id, await emptyAccountsOf(registry, id, list.rows));
  });
  return found;
}
