/** Loans: list, one, create, replace, change. */
import type { Visible } from '../../../domain/access/visible.ts';
import { LOAN_FIELDS, LOAN_STATUSES } from '../../../domain/lending/loans.ts';
import type { TimeZone } from '../../../domain/values/date-time.ts';
import { onlyGiven } from '../../../domain/values/given.ts';
import { parseChoice } from '../../../domain/values/text.ts';
import { kindOf } from '../../../json/declared-fields.ts';
import { SHOWN_LOAN } from '../../../json/shown/rows.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { NarrowableStore } from '../../../store/contract/registry.ts';
import { SHOWS_PERSONS } from '../../declare/narrowing.ts';
import { idFilter } from '../../declare/query.ts';
import type { Route } from '../../declare/route.ts';
import { COOPERATIVE_FILTER } from '../cooperative-fields.ts';
import { type ExportDependencies, exportOf, exportRoute } from '../exports.ts';
import { changeRoutes, createRoute, declareResource, getRoute, listRoute } from '../resource.ts';
import { lendingFilters } from './lending-filters.ts';
import { readLoanValues, readNewLoan } from './loan-values.ts';

/** A loan in bodies and responses, from the declarations of its fields. */
export const LOAN = declareResource(LOAN_FIELDS, {
  tag: 'loans',
  title: 'Loan',
  narrowed: SHOWS_PERSONS,
  properties: SHOWN_LOAN,
  memberIdOf: ({ memberId }) => memberId,
});

export function loanRoutes(
  store: NarrowableStore,
  exports: ExportDependencies,
  clock: Clock,
  zone: TimeZone,
): Route[] {
  const storeOf = (visible: Visible) => store.narrowedTo(visible).loans;
  const dependencies = { storeOf, clock, zone };
  return [
    listRoute(
      LOAN,
      { ...lendingFilters('the loans', zone), ...FILTERS },
      ({ identity_card: identityCard, cooperative: cooperativeId, member: memberId, ...query }) => {
        const { status, reference, updated_since: updatedSince } = query;
        return onlyGiven({ identityCard, cooperativeId, memberId, status, reference, updatedSince });
      },
      dependencies,
    ),
    createRoute(LOAN, CREATING, readNewLoan, dependencies),
    exportRoute(exportOf(LOAN), { cooperative: COOPERATIVE_FILTER, status: FILTERS.status }, exports),
    getRoute(LOAN, dependencies),
    ...changeRoutes(LOAN, CHANGING, { toValues: readLoanValues }, dependencies),
  ];
}

const FILTERS = {
  member: idFilter('Only those of the member with this id.', 'Expected the id of a member.'),
  status: {
    description: 'Only those of this status.',
    schema: kindOf(LOAN_FIELDS.status).schema,
    parse: (value: string) => parseChoice(value, LOAN_STATUSES),
  },
};

const CREATING = {
  summary: 'Record a loan',
  description: 'What is paid on it is computed from its payments.',
};

const CHANGING = {
  put: {
    description:
      'An omitted optional field keeps what is stored, null clears a date. ' +
      'The step of the status to approved sets ' +
      'approved_at; from then on the amount and the interest rate are fixed. ' +
      'Read-only fields are ignored.',
  },
};
