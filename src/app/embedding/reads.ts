/** What programs that embed the registry read, without HTTP and without a key (docs/embedding.md). */

import { RegistryError } from '../../domain/values/errors.ts';
import { checkOptions, type Id, type OptionTypes, toId, toNationalId } from './arguments.ts';
import type { Asked, RouteCaller } from './call-route.ts';
import type { ConsolidatedMember, Member, Membership, Queries, Results } from './objects.ts';

type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

/** The query parameters of HTTP by their names there, which may be written in camelCase: `pageSize`. */
export type Filters<Name extends keyof Queries> = Queries[Name] &
  ReadOptions & {
    readonly [Each in keyof Queries[Name] & string as Camel<Each>]?: Queries[Name][Each];
  };

/** What the access ledger records of a reading of personal data, where it is on: 1 to 200 characters each. */
export interface ReadOptions {
  /** Why. */
  readonly purpose?: string | undefined;
  /** For whom, as the program names them. */
  readonly endUser?: string | undefined;
}

export interface FinancialsOption extends ReadOptions {
  /** Shows production, loans and savings, which are null otherwise. */
  readonly financials?: boolean | undefined;
}

/** Functions that read rows of one kind. */
export interface Rows<
  List extends keyof Queries & keyof Results,
  All extends keyof Queries & keyof Results,
  Row,
> {
  /** One page, in order of id. */
  list(filters?: Filters<List>): Promise<Results[List]>;
  /** All rows as they were at one moment, in order of id, while a program asks for them. */
  all(filters?: Filters<All>): AsyncIterable<Results[All]>;
  /** The row with this id. */
  get(id: Id, options?: ReadOptions): Promise<Row | undefined>;
}

/**
 * The same objects as the JSON of docs/api.md, read on the calling thread but for statistics, searches and
 * `all`. Undefined is what HTTP answers with 404. Each function rejects with a RegistryError: `invalid` for a
 * wrong argument, which it names, `gone` for the id of a merged member, `unavailable` when it may be
 * repeated: also when the access ledger is on and the reading cannot be recorded.
 */
export interface EmbeddedReads {
  /** The person with this national ID, by all active memberships. */
  lookUp(nid: string, options?: FinancialsOption): Promise<ConsolidatedMember | undefined>;
  /** The active membership of the person in one cooperative. */
  lookUpMembership(
    cooperativeId: Id,
    nid: string,
    options?: FinancialsOption,
  ): Promise<Membership | undefined>;
  readonly cooperatives: Rows<'listCooperatives', 'exportCooperatives', Results['getCooperative']> & {
    /** Sums of the cooperative. */
    statistics(id: Id, options?: FinancialsOption): Promise<Results['getCooperativeStatistics'] | undefined>;
  };
  readonly members: Rows<'listMembers', 'exportMembers', Member> & {
    /** A page of what the member delivered, newest first. */
    deliveries(id: Id, filters?: Filters<'listDeliveries'>): Promise<Results['listDeliveries'] | undefined>;
    /** A page of what the member paid in and drew, newest first. */
    savingsTransactions(
      id: Id,
      filters?: Filters<'listSavingsTransactions'>,
    ): Promise<Results['listSavingsTransactions'] | undefined>;
  };
  readonly loans: Rows<'listLoans', 'exportLoans', Results['getLoan']>;
  readonly payments: Rows<'listPayments', 'exportPayments', Results['getPayment']>;
  /** Sums of all cooperatives, or of those of a district. */
  statistics(options?: FinancialsOption & Filters<'getStatistics'>): Promise<Results['getStatistics']>;
  /** Changes in the order of commits. */
  events(query?: Filters<'listEvents'>): Promise<Results['listEvents']>;
}

export function createReads(caller: RouteCaller): EmbeddedReads {
  /** A function that gets what belongs to one row. */
  const find =
    <Name extends keyof Results>(name: Name) =>
    async (id: Id, query?: object) =>
      orUndefined(caller.get(name, { params: { id: toId('id', id) }, query }));
  const rows = <
    List extends keyof Queries & keyof Results,
    All extends keyof Queries & keyof Results,
    Get extends keyof Results,
  >(
    list: List,
    all: All,
    get: Get,
  ): Rows<List, All, Results[Get]> => ({
    list: (filters) => caller.get(list, { query: filters }),
    all: (filters) => caller.each(all, { query: filters }),
    get: (id, options) => {
      checkOptions(options, STATEMENTS);
      return find(get)(id, options);
    },
  });
  return {
    lookUp: async (nid, options) =>
      orUndefined(
        caller.get('getMember', { params: { id: toNationalId('nid', nid) }, ...toFinancials(options) }),
      ) as Promise<ConsolidatedMember | undefined>,
    lookUpMembership: async (cooperativeId, nid, options) => {
      const params = { id: toId('cooperativeId', cooperativeId), nid: toNationalId('nid', nid) };
      return orUndefined(caller.get('getMembership', { params, ...toFinancials(options) }));
    },
    cooperatives: {
      ...rows('listCooperatives', 'exportCooperatives', 'getCooperative'),
      statistics: async (id, options) =>
        orUndefined(
          caller.get('getCooperativeStatistics', {
            params: { id: toId('id', id) },
            ...toFinancials(options),
          }),
        ),
    },
    members: {
      ...(rows('listMembers', 'exportMembers', 'getMember') as EmbeddedReads['members']),
      deliveries: find('listDeliveries'),
      savingsTransactions: find('listSavingsTransactions'),
    },
    loans: rows('listLoans', 'exportLoans', 'getLoan'),
    payments: rows('listPayments', 'exportPayments', 'getPayment'),
    statistics: async (options) => caller.get('getStatistics', toFinancials(options, { district: 'string' })),
    events: (query) => caller.get('listEvents', { query }),
  };
}

const STATEMENTS = { purpose: 'string', endUser: 'string' } as const;

/** What was not found is no error for those who ask in code. */
async function orUndefined<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** @param filters that the route takes */
function toFinancials(options: unknown, filters: OptionTypes = {}): Pick<Asked, 'seesFinancials' | 'query'> {
  checkOptions(options, { financials: 'boolean', ...STATEMENTS, ...filters });
  const { financials, ...query } = (options ?? {}) as FinancialsOption;
  return { seesFinancials: financials === true, query };
}
