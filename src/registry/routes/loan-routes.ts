/** Routes of loans: list, get, create, replace, change. */

import type { Visible } from '../../access/api-keys.ts';
import { ID_FILTER, idFilter, momentFilter } from '../../http/declare/query.ts';
import {
  changeRoutes,
  createRoute,
  type Decision,
  declareResource,
  getRoute,
  listRoute,
  type MoreRoutes,
} from '../../http/declare/resource.ts';
import { type Route, SHOWS_PERSONS } from '../../http/declare/route.ts';
import type { Clock } from '../../runtime/scheduler.ts';
import { parseDateTime, type TimeZone } from '../../values/date-time.ts';
import { completeValues, onlyGiven } from '../../values/declared-fields.ts';
import type { FieldErrorList } from '../../values/errors.ts';
import { parseIdentityCard } from '../../values/identity-card.ts';
import { string } from '../../values/schema.ts';
import { MAX_LENGTH, parseText } from '../../values/text.ts';
import {
  decideLoan,
  decideNewLoan,
  LOAN_FIELDS,
  type LoanInput,
  type LoanRecord,
  type LoanValues,
  refuseLoanEnd,
} from '../loans.ts';
import type { NarrowableStore } from '../registry-store.ts';
import { IDENTITY_CARD_SCHEMA, SHOWN_LOAN } from '../shown-rows.ts';
import { COOPERATIVE_FILTER, statusFilter } from './cooperative-routes.ts';

/** @param rows noun for the descriptions, such as `the loans` */
export const lendingFilters = (rows: string, zone: TimeZone) => ({
  id: ID_FILTER,
  identity_card: {
    description: `Only ${rows} of this person, in every cooperative.`,
    schema: IDENTITY_CARD_SCHEMA,
    parse: parseIdentityCard,
  },
  cooperative: COOPERATIVE_FILTER,
  reference: {
    description: 'Only rows with exactly this reference: at most one in each cooperative.',
    schema: string(),
    parse: (value: string) => parseText(value, MAX_LENGTH.reference),
  },
  updated_since: momentFilter(
    'Only rows whose updated_at is this moment or later. If there are more than 10,000, the response is ' +
      '400: follow /events instead, which also reports deleted rows.',
    (value) => parseDateTime(value, zone),
  ),
});

function addEndFault(
  faults: FieldErrorList,
  { loanStartDate = null, loanEndDate = null }: Partial<LoanInput>,
  stored?: LoanRecord,
): void {
  if (faults.has('loan_start_date') || faults.has('loan_end_date')) return;
  const message = refuseLoanEnd({ loanStartDate, loanEndDate }, stored);
  if (message !== undefined) faults.add('loan_end_date', message);
}

function readNewLoan(body: Partial<LoanInput>, { faults, nowSeconds }: Decision): [values: LoanValues] {
  addEndFault(faults, body);
  return [decideNewLoan(body as LoanInput & { memberId: number }, nowSeconds)];
}

/** Adds all faults of a change to `faults`. Stored values replace invalid and missing values. */
function readLoanValues(
  body: Partial<LoanInput>,
  stored: LoanRecord,
  { faults, nowSeconds }: Decision,
): Partial<LoanValues> {
  const completed = completeValues(LOAN_FIELDS, body, stored);
  let values: Partial<LoanValues> = { memberId: stored.memberId, reference: completed.reference };
  faults.addFoundBy(() => {
    values = decideLoan(stored, completed, nowSeconds);
  });
  addEndFault(faults, completed, stored);
  return values;
}

const LOAN = declareResource(LOAN_FIELDS, {
  tag: 'loans',
  title: 'Loan',
  narrowed: SHOWS_PERSONS,
  properties: SHOWN_LOAN,
  memberIdOf: ({ memberId }) => memberId,
});

export function loanRoutes(store: NarrowableStore, more: MoreRoutes, clock: Clock, zone: TimeZone): Route[] {
  const storeOf = (visible: Visible) => store.narrowedTo(visible).loans;
  const dependencies = { storeOf, clock, zone };
  return [
    listRoute(
      LOAN,
      { ...lendingFilters('the loans', zone), ...FILTERS },
      ({ id: ids, identity_card: identityCard, cooperative: cooperativeId, member: memberId, ...query }) => {
        const { updated_since: updatedSince, ...others } = query;
        return onlyGiven({ ids, identityCard, cooperativeId, memberId, updatedSince, ...others });
      },
      dependencies,
    ),
    createRoute(LOAN, CREATING, readNewLoan, dependencies),
    ...more(LOAN, { cooperative: COOPERATIVE_FILTER, status: FILTERS.status }),
    getRoute(LOAN, dependencies),
    ...changeRoutes(LOAN, CHANGING, { toValues: readLoanValues }, dependencies),
  ];
}

const FILTERS = {
  member: idFilter('Only those of the member with this id.', 'Expected the id of a member.'),
  status: statusFilter(LOAN_FIELDS.status, 'Only those of this status.'),
};

const CREATING = {
  summary: 'Record a loan',
  description: 'The paid amount is computed from its payments.',
};

const CHANGING = {
  put: {
    description:
      'An omitted optional field keeps what is stored, null clears a date. ' +
      'Changing the status to approved sets approved_at; from then on the amount and the interest rate ' +
      'cannot be changed. ' +
      'Read-only fields are ignored.',
  },
};
