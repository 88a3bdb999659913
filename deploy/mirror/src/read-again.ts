/** What events ask to be read again, and reading it by the public API. */
import { type EmptyAccounts, emptyAccountsOf } from './accounts.ts';
import type { State } from './database.ts';
import { KIND_NAMES, type KindName, pathOf } from './kinds.ts';
import { inParallel } from './parallel.ts';
import type { RegistryClient, RegistryEvent, Row } from './registry.ts';

/** Each answer waits for the sync of the registry's access ledger: those that come together share one. */
const READ_AT_ONCE = 128;
const ERASED = 'Erased.';

/** Those that are lists of their members, and have no events of their own. */
const ENTRY_KINDS: readonly KindName[] = ['deliveries', 'savings_transactions'];
export const isEntryKind = (kind: KindName): boolean => ENTRY_KINDS.includes(kind);
const KIND_OF: { readonly [entity: string]: KindName } = {
  ...{ cooperative: 'cooperatives', member: 'members', loan: 'loans', payment: 'payments' },
};
const SUMMARY_OF: { readonly [field: string]: KindName } = {
  ...{ production_summary: 'deliveries', savings_summary: 'savings_transactions' },
};

/** What to read again: numbers by kind, of entries those of their members, with their cooperatives. */
export interface Work {
  readonly rows: { readonly [kind in KindName]: Map<string, string> };
  /** Kinds of which a change is not announced row by row. */
  readonly all: Set<KindName>;
  /** Members who may have a savings account without a transaction from now on. */
  readonly recounted: Set<string>;
}

const isCorrection = ({ actor }: RegistryEvent): boolean => /^(?:correction|undo):/.test(actor);

/** Entries that come or go with their member have no event of their own, nor have those of erased persons. */
function kindsOfMember(event: RegistryEvent): KindName[] {
  const { type, data } = event;
  if (type === 'member.deleted' || (type === 'member.created' && isCorrection(event)))
    return ['members', ...ENTRY_KINDS];
  const kinds = data.fields_changed.map((field) => SUMMARY_OF[field] ?? 'members');
  if (kinds.length === 0) kinds.push('members');
  // A lookup counts the accounts of active members only.
  if (data.fields_changed.includes('status')) kinds.push('savings_transactions');
  return kinds;
}

export function workOf(events: readonly RegistryEvent[], loaded: State['loaded']): Work {
  const rows = Object.fromEntries(KIND_NAMES.map((kind) => [kind, new Map<string, string>()]));
  const all = new Set<KindName>();
  const recounted = new Set<string>();
  for (const event of events) {
    const { id, cooperative_id: cooperativeId, fields_changed: fields } = event.data;
    const isNew = (kind: KindName) => event.sequence > (loaded[kind] ?? 0);
    const [entity = ''] = event.type.split('.');
    const kinds = entity === 'member' ? kindsOfMember(event) : [KIND_OF[entity] as KindName];
    for (const kind of kinds.filter(isNew)) rows[kind]?.set(id, cooperativeId);
    // A request over HTTP only adds transactions.
    if (!event.actor.startsWith('key:') || fields.includes('status')) recounted.add(id);
    // A cooperative that was merged gives away the entries of erased persons too.
    if (entity === 'cooperative' && isCorrection(event))
      for (const kind of ENTRY_KINDS.filter(isNew)) all.add(kind);
  }
  return { rows: rows as Work['rows'], all, recounted };
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

export async function readRows(
  registry: RegistryClient,
  kind: KindName,
  ids: Iterable<string>,
): Promise<Found> {
  const found = nothingFound(kind);
  await inParallel(ids, READ_AT_ONCE, async (id) => {
    const answer = await registry.read(`/${kind}/${id}`, kind);
    if ('row' in answer) found.rows.set(id, answer.row);
    else found.gone.push(id);
    if ('gone' in answer && answer.gone === ERASED) found.hasErased = true;
  });
  return found;
}

/**
 * @param members by number, with the cooperatives that their events name
 * @param recounted those whose accounts are counted
 * @returns undefined for more rows than `most`: a member may have thousands
 */
export async function readEntries(
  registry: RegistryClient,
  kind: KindName,
  members: Map<string, string>,
  recounted: ReadonlySet<string>,
  most: number,
): Promise<Found | undefined> {
  const found = nothingFound(kind);
  await inParallel(members, READ_AT_ONCE, async ([id, cooperativeId]) => {
    if (found.rows.size > most) return;
    const list = await registry.readAll(`/members/${id}/${pathOf(kind)}`, kind);
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
    if (kind === 'savings_transactions' && recounted.has(id))
      found.emptyAccounts.set(id, await emptyAccountsOf(registry, id, list.rows));
  });
  return found.rows.size > most ? undefined : found;
}
