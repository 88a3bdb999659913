/** What events ask to be read again; rows and position change in one transaction. */
import { countAccounts, type EmptyAccounts, emptyAccountsOf, storeEmptyAccounts } from './accounts.ts';
import { type Database, INDEXES, type State } from './database.ts';
import { deleteStatements, KIND_NAMES, type KindName, upsertStatements } from './kinds.ts';
import { exchange, fetchExport, type Loaded, seeOneEpoch } from './load.ts';
import type { EventPage, RegistryClient, RegistryEvent, Row } from './registry.ts';

export interface Mirror {
  readonly database: Database;
  readonly registry: RegistryClient;
  readonly reloadRows: number;
  readonly log: (line: string) => void;
}

const PAGE = 10_000;
/** More events than that are not looked at together. */
const MOST_EVENTS = 500_000;
const READ_AT_ONCE = 16;
const ERASED = 'Erased.';

type EntryKind = 'deliveries' | 'savings_transactions';
const LISTS: { readonly [kind in EntryKind]: string } = {
  deliveries: 'deliveries',
  savings_transactions: 'savings-transactions',
};
const ENTRY_KINDS = Object.keys(LISTS) as EntryKind[];
const KIND_OF: { readonly [entity: string]: KindName } = {
  ...{ cooperative: 'cooperatives', member: 'members', loan: 'loans', payment: 'payments' },
};
const SUMMARY_OF: { readonly [field: string]: EntryKind } = {
  ...{ production_summary: 'deliveries', savings_summary: 'savings_transactions' },
};

/** What to read again: numbers by kind, of entries those of their members, with their cooperatives. */
interface Work {
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

function workOf(events: readonly RegistryEvent[], loaded: State['loaded']): Work {
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
interface Found {
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

async function readRows(registry: RegistryClient, kind: KindName, ids: Iterable<string>): Promise<Found> {
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
async function readEntries(
  registry: RegistryClient,
  kind: EntryKind,
  members: Map<string, string>,
): Promise<Found> {
  const found = nothingFound(kind);
  await inParallel(members, async ([id, cooperativeId]) => {
    const member = await registry.read(`/members/${id}`, 'members');
    const list = await registry.readAll(`/members/${id}/${LISTS[kind]}`, kind);
    if ([member, list].some((each) => 'gone' in each && each.gone === ERASED)) {
      found.cooperatives.add(cooperativeId);
      return;
    }
    found.owners.push(id);
    if ('gone' in member || 'gone' in list) return;
    const owner = { member: { id }, cooperative: member.row.cooperative };
    // An entry may come twice, when its member is merged between two reads: an event of that follows.
    for (const row of list.rows) found.rows.set(String(row.id), { ...row, ...owner });
    if (kind === 'savings_transactions')
      found.emptyAccounts.set(id, await emptyAccountsOf(registry, member.row, list.rows));
  });
  return found;
}

/** Stores what was read: part of the transaction under way. @returns whether a person was erased */
async function store(database: Database, found: Found): Promise<boolean> {
  const { kind, gone, owners, hasErased } = found;
  const rows = [...found.rows.values()];
  let deleted = 0;
  for (const statement of gone.length === 0 ? [] : deleteStatements(kind))
    deleted += (await database.query(statement, [gone])).rowCount ?? 0;
  if (owners.length > 0)
    await database.query(
      `DELETE FROM registry.${kind} WHERE member_id = ANY ($1::bigint[]) AND NOT (id = ANY ($2::bigint[]))`,
      [owners, [...found.rows.keys()]],
    );
  for (const statement of rows.length === 0 ? [] : upsertStatements(kind))
    await database.query(statement, [JSON.stringify(rows)]);
  if (kind === 'savings_transactions') await storeEmptyAccounts(database, owners, found.emptyAccounts);
  return hasErased && deleted > 0;
}

/** Kinds of which so much has changed that an export is faster than its rows one by one. */
async function kindsToReload({ database, reloadRows }: Mirror, { rows, all }: Work): Promise<KindName[]> {
  const { rows: sizes } = await database.query(
    `SELECT relname, reltuples FROM pg_class WHERE relnamespace = 'registry'::regnamespace`,
  );
  const most = (kind: KindName): number =>
    Math.max(reloadRows, (sizes.find(({ relname }) => relname === kind)?.reltuples ?? 0) / 50);
  return KIND_NAMES.filter((kind) => all.has(kind) || rows[kind].size >= most(kind));
}

const isEntryKind = (kind: KindName): kind is EntryKind => kind in LISTS;
const offsetOf = (timestamp: string | undefined): string | undefined =>
  /(?:Z|[+-][0-9]{2}:[0-9]{2})$/.exec(timestamp ?? '')?.[0];
const sequencesOf = (loads: readonly Loaded[]) =>
  Object.fromEntries(loads.map(({ kind, sequence }) => [kind, sequence]));

/** Reads again what the events of a page have changed, and stores it with the position after them. */
async function apply(mirror: Mirror, state: State, { epoch, results, last_sequence }: EventPage) {
  const { database, registry, log } = mirror;
  const work = workOf(results, state.loaded);
  const reloaded = await kindsToReload(mirror, work);
  const found: Found[] = [];
  for (const kind of KIND_NAMES.filter((each) => !reloaded.includes(each))) {
    const numbers = work.rows[kind];
    if (numbers.size === 0) continue;
    const read = isEntryKind(kind)
      ? readEntries(registry, kind, numbers)
      : readRows(registry, kind, numbers.keys());
    found.push(await read);
  }
  const partial = found.filter(({ cooperatives }) => cooperatives.size > 0);
  const loads: Loaded[] = [];
  for (const kind of reloaded) loads.push(...(await fetchExport(database, registry, kind)));
  const parts: Loaded[] = [];
  for (const { kind, cooperatives } of partial)
    parts.push(...(await fetchExport(database, registry, kind, [...cooperatives])));
  seeOneEpoch([...loads, ...parts], epoch);
  let mustVacuum = state.must_vacuum;
  const oldest = results[0]?.timestamp ?? '';
  const lagSeconds = () => Math.max(0, (Date.now() - Date.parse(oldest)) / 1000);
  await database.transaction(async () => {
    for (const kind of reloaded) if ((await exchange(database, kind)) > 0) mustVacuum = true;
    for (const each of found) if (await store(database, each)) mustVacuum = true;
    for (const { kind, cooperatives } of partial) await exchange(database, kind, [...cooperatives]);
    await database.setState({
      sequence: last_sequence,
      loaded: { ...state.loaded, ...sequencesOf(loads) },
      must_vacuum: mustVacuum,
      must_count_accounts:
        state.must_count_accounts || reloaded.some((kind) => kind === 'members' || isEntryKind(kind)),
      utc_offset: offsetOf(results.at(-1)?.timestamp),
      last_event_at: results.at(-1)?.timestamp,
      lag_seconds: lagSeconds(),
      ...(results.length < PAGE ? { current_at: new Date() } : {}),
    });
  });
  const rows = found.reduce((sum, each) => sum + each.rows.size, 0);
  const again = reloaded.length === 0 ? '' : `, ${reloaded.join(' and ')} loaded again`;
  const lag = lagSeconds().toFixed(1);
  log(`events ${state.sequence + 1} to ${last_sequence}: ${rows} rows read${again}, lag ${lag} s`);
}

/** Loads everything again, beside the tables, and exchanges the rows with the new position. */
export async function rebuild({ database, registry, log }: Mirror): Promise<void> {
  const started = Date.now();
  const loads: Loaded[] = [];
  for (const kind of KIND_NAMES) loads.push(...(await fetchExport(database, registry, kind)));
  const epoch = seeOneEpoch(loads, undefined);
  const newest =
    await database.query(`SELECT row ->> 'created_at' AS at FROM registry_private.incoming_cooperatives
    LIMIT 1`);
  const sequence = Math.min(...loads.map((each) => each.sequence));
  await database.transaction(async () => {
    let deleted = 0;
    for (const kind of KIND_NAMES) deleted += await exchange(database, kind);
    await database.query(INDEXES);
    await database.setState({
      ...{ epoch, sequence, loaded: sequencesOf(loads), must_count_accounts: true },
      ...(deleted > 0 ? { must_vacuum: true } : {}),
      utc_offset: offsetOf(newest.rows[0]?.at),
    });
  });
  for (const kind of KIND_NAMES) await database.query(`ANALYZE registry.${kind}`);
  log(`everything loaded in ${((Date.now() - started) / 1000).toFixed(1)} s: after event ${sequence}`);
}

/** Rewrites the tables that named erased persons: a plain VACUUM leaves their bytes in free space. */
async function vacuum({ database, log }: Mirror): Promise<void> {
  // A query that reads for longer keeps the rows: the next batch tries again.
  await database.query(`SET lock_timeout = '5s'`);
  try {
    for (const table of ['registry.members', 'registry_private.national_ids'])
      await database.query(`VACUUM (FULL, ANALYZE) ${table}`);
    await database.setState({ must_vacuum: false });
    log('rows of erased persons vacuumed');
  } catch (error) {
    if ((error as { code?: string }).code !== '55P03') throw error;
    log('rows of erased persons are not vacuumed yet: others read the tables');
  } finally {
    await database.query('SET lock_timeout = 0');
  }
}

/** The next events, all of an import that is longer than a page. */
async function nextEvents(registry: RegistryClient, epoch: string, after: number): Promise<EventPage> {
  const page = await registry.events(after, epoch, PAGE);
  const results = [...page.results];
  let last = page;
  while (last.results.length === PAGE && results.length < MOST_EVENTS) {
    last = await registry.events(last.last_sequence, epoch, PAGE, 0);
    results.push(...last.results);
  }
  return { ...last, results };
}

/** One step: what is left to do, or the next events. @throws SequenceEnded when all must be loaded again */
export async function step(mirror: Mirror): Promise<void> {
  const { database, registry } = mirror;
  const state = await database.state();
  if (state.epoch === null) return rebuild(mirror);
  if (state.must_vacuum) await vacuum(mirror);
  if (state.must_count_accounts) await countAccounts(database, registry);
  const page = await nextEvents(registry, state.epoch, state.sequence);
  if (page.results.length === 0) return database.setState({ current_at: new Date() });
  await apply(mirror, await database.state(), page);
}
