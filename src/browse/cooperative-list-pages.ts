/** Lists of one cooperative: members, recorded rows, late loans, and members without a delivery. */

import { askedOf, filterAction, filterForm, listInOrder, orderLinks, pages } from '../desk/list.ts';
import { type Column, table } from '../desk/parts.ts';
import type { Screen, Visit } from '../desk/screen.ts';
import { openRegistry } from '../open-registry.ts';
import { entryActions } from '../people/pages/deliveries-loans-and-savings.ts';
import { type ListedMember, MEMBER_FIELDS, MEMBER_STATUSES, type MemberField } from '../registry/members.ts';
import type { Search } from '../registry/name-search.ts';
import { cooperativePath, findCooperative } from '../registry/pages/find-visited.ts';
import { nameOf, referenceOf, writeStored } from '../registry/pages/show-stored-values.ts';
import type { FoundMember } from '../registry/stored/stored-data-types.ts';
import { formatDate, startOfDay } from '../values/date-time.ts';
import { type FieldGroup, listFields, onlyGiven } from '../values/declared-fields.ts';
import type { Page as Rows } from '../values/errors.ts';
import { type Html, type HtmlValue, html } from '../values/html.ts';
import { type Message, say } from '../values/message.ts';
import {
  type CooperativeLists,
  type OrderedRequest,
  openCooperativeLists,
  type RecordedKind,
  type RecordedRow,
  ROW_ORDERS,
  type RowOrder,
} from './cooperative-lists-sql.ts';

interface Asked extends OrderedRequest {
  readonly cooperativeId: number;
  readonly memberCode: string | undefined;
}

type InOrder = (order: RowOrder, way?: 'descending') => Pick<Column, 'link' | 'order'>;

interface Listed<Row> {
  readonly name: string;
  readonly title: Message;
  readonly fields: readonly FieldGroup[];
  /** Set if users can filter by member. */
  readonly isFiltered?: true;
  readonly list: (stored: CooperativeLists, visit: Visit, request: Asked) => Rows<Row>;
  /** Columns after the name and the code. */
  readonly columns: (visit: Visit, by: InOrder) => readonly Column[];
  /** @param person path of the person's page; undefined for an erased person */
  readonly cells: (visit: Visit, row: Row, person: string | undefined) => readonly HtmlValue[];
}

function listScreen<Row extends FoundMember>(listed: Listed<Row>): Screen {
  const { name, title, fields, isFiltered } = listed;
  const listPath = (visit: Visit) => `${cooperativePath(visit)}/${name}`;
  return {
    path: `/cooperative/:code/${name}`,
    title,
    personal: 'some',
    async read(visit) {
      const cooperative = await findCooperative(visit, visit.use(openRegistry));
      if (cooperative === undefined) return undefined;
      const stored = visit.use(openCooperativeLists);
      const path = listPath(visit);
      const { page, text, choice } = askedOf(visit);
      const name = { cooperativeCode: cooperative.code, memberCode: text, isTyped: true } as const;
      const [member] = text === '' ? [] : stored.findMembers(name);
      const { rows, count } = listed.list(stored, visit, {
        ...page,
        order: choice('sort', ROW_ORDERS),
        cooperativeId: cooperative.id,
        memberCode: text === '' ? undefined : (member?.memberCode ?? text),
      });
      const body = html`<h1>${visit.translate(title)}</h1>
<p><a href="${cooperativePath(visit)}">${cooperative.name}</a></p>
${isFiltered && filterForm(visit, path, { text }, [], say('Member code'))}
<p>${
        count === 0 && text !== ''
          ? visit.say('No rows of a member with the code “{text}”.', { text })
          : visit.say('{n|# row|# rows}', { n: count })
      }</p>
${rowsTable(visit, path, listed, rows, stored)}${pages(visit, path, count, page)}`;
      const subject = { memberIds: [...new Set(rows.map(({ id }) => id))] };
      return { body, shows: rows.length === 0 ? 'nobody' : { fields, subject } };
    },
    ...(isFiltered && { actions: { filter: filterAction(listPath, []) } }),
  };
}

function rowsTable<Row extends FoundMember>(
  visit: Visit,
  path: string,
  { title, columns, cells }: Listed<Row>,
  rows: readonly Row[],
  stored: CooperativeLists,
): Html {
  const numbers = stored.findNumbers(rows.map(({ id }) => id));
  const by: InOrder = orderLinks(visit, path);
  return table(
    visit.translate(title),
    [
      { heading: visit.say('Name'), ...by('name') },
      { heading: visit.say('Member code'), ...by('code') },
      ...columns(visit, by),
    ],
    rows.map((row) => {
      const number = numbers.get(row.id);
      const person = number && `/person/${visit.session.persons.of(number)}`;
      return [
        person ? html`<a class="hit" href="${person}">${row.fullName}</a>` : row.fullName,
        row.memberCode,
        ...cells(visit, row, person),
      ];
    }),
  );
}

/** @returns epoch seconds */
const startOfToday = ({ now, desk }: Visit): number =>
  startOfDay(formatDate(now, desk.storage.zone), desk.storage.zone);

const startOfYear = ({ now, desk }: Visit): number =>
  startOfDay(`${formatDate(now, desk.storage.zone).slice(0, 4)}-01-01`, desk.storage.zone);

export const WITHOUT_DELIVERY = listScreen({
  name: 'without-delivery',
  title: say('Members without a delivery this year'),
  fields: ['identity'],
  list: (stored, visit, request) =>
    stored.listWithoutDelivery(request.cooperativeId, startOfYear(visit), request),
  columns: () => [],
  cells: () => [],
});

export const LATE_LOANS = listScreen({
  name: 'late-loans',
  title: say('Late loans'),
  fields: ['identity', 'financials'],
  // On its last day, a loan is not late yet.
  list: (stored, visit, request) => stored.listLateLoans(request.cooperativeId, startOfToday(visit), request),
  columns: (visit, by) => [
    { heading: visit.say('Reference'), ...by('reference') },
    { heading: visit.say('Until'), ...by('day', 'descending') },
    { heading: visit.say('Amount'), isNumber: true, ...by('amount', 'descending') },
    { heading: visit.say('Outstanding'), isNumber: true, ...by('left', 'descending') },
  ],
  cells: ({ write }, { reference, endDate, amountMinor, paidAmountMinor }) => [
    reference,
    write.day(endDate),
    write.money(amountMinor),
    write.money(amountMinor - paidAmountMinor),
  ],
});

const here = (visit: Visit, name: string): string =>
  `${cooperativePath(visit)}/${name}${visit.query.size === 0 ? '' : `?${visit.query}`}`;

/** @param name last segment of the address */
const recorded = (kind: RecordedKind, name: string): Screen =>
  listScreen<RecordedRow>({
    name,
    title: nameOf(kind),
    fields: ['identity', 'financials'],
    isFiltered: true,
    list: (stored, _visit, request) =>
      stored.listRecorded(kind, request.cooperativeId, request.memberCode, request),
    columns: ({ say, translate }, by) => [
      { heading: say('Day'), ...by('day', 'descending') },
      { heading: say('What'), ...by('what') },
      {
        heading: kind === 'production' ? say('Weight') : say('Amount'),
        isNumber: true,
        ...by('amount', 'descending'),
      },
      { heading: say('Reference'), ...by('reference') },
      ...(kind === 'payments' ? [{ heading: translate(nameOf('loan_reference')), ...by('loan') }] : []),
      { heading: '' },
    ],
    cells: (visit, { cooperativeCode: cooperative, rowId: id, reference, at, what, ...row }, person) => [
      at !== null && visit.write.day(at),
      kind === 'production' ? what : what !== null && visit.translate(nameOf(what)),
      kind === 'production' ? visit.write.weight(row.amount) : visit.write.money(row.amount),
      referenceOf({ reference }),
      ...(kind === 'payments' ? [row.loan] : []),
      person !== undefined &&
        entryActions(visit, person, here(visit, name))(kind, { id, cooperative, reference }),
    ],
  });

export const RECORDED: { readonly [kind in RecordedKind]: Screen } = {
  production: recorded('production', 'deliveries'),
  savings: recorded('savings', 'savings'),
  loans: recorded('loans', 'loans'),
  payments: recorded('payments', 'payments'),
};

// `/cooperative/…/members`: the members of a cooperative

const COLUMNS = listFields<MemberField>(MEMBER_FIELDS).filter(({ isListedAtDesk }) => isListedAtDesk);
const GROUPS = [...new Set(COLUMNS.map(({ group }) => group))];

const membersPath = (visit: Visit): string => `${cooperativePath(visit)}/members`;

export const membersPage = (search: Search | undefined): Screen => ({
  path: '/cooperative/:code/members',
  title: say('Members'),
  personal: 'some',
  async read(visit) {
    const registry = visit.use((storage) => openRegistry(storage, search));
    const cooperative = await findCooperative(visit, registry);
    if (cooperative === undefined) return undefined;
    const path = membersPath(visit);
    const request = askedOf(visit);
    const filter = {
      cooperativeId: cooperative.id,
      ...onlyGiven({ search: request.words, status: request.choice('status', MEMBER_STATUSES) }),
    };
    const column = COLUMNS.find(({ name }) => name === visit.query.get('sort'));
    const { rows, count } = await listInOrder(
      (page) => registry.members.list(filter, page),
      request.page,
      visit,
      column && ((row) => valueIn(row, column)),
    );
    const statuses = MEMBER_STATUSES.map((value) => [value, visit.translate(nameOf(value))] as const);
    const body = html`<h1>${visit.say('Members of {cooperative}', { cooperative: cooperative.name })}</h1>
<p><a href="${cooperativePath(visit)}">${visit.say('Back')}</a></p>
${filterForm(visit, path, request, [{ name: 'status', label: visit.say('Status'), values: statuses }])}
<p>${visit.say('{n|# member|# members}', { n: count })}</p>
${membersTable(visit, path, rows)}${pages(visit, path, count, request.page)}`;
    const subject = { memberIds: rows.map(({ id }) => id) };
    return { body, shows: rows.length === 0 ? 'nobody' : { fields: GROUPS, subject } };
  },
  actions: { filter: filterAction(membersPath, ['status']) },
});

type ListedColumn = (typeof COLUMNS)[number];

/** The registration date is not in the JSON of a member. */
const valueIn = ({ json, registrationDate }: ListedMember, { property, name }: ListedColumn) =>
  property === 'registrationDate'
    ? registrationDate
    : (JSON.parse(json) as { readonly [name: string]: string | null })[name];

function membersTable(visit: Visit, path: string, rows: readonly ListedMember[]) {
  const by = orderLinks(visit, path);
  return table(
    visit.say('Members'),
    COLUMNS.map(({ label, name, property }) => ({
      heading: visit.translate(label),
      ...by(name, property === 'registrationDate' ? 'descending' : 'ascending'),
    })),
    rows.map(({ json, registrationDate }) => {
      const listed = JSON.parse(json) as { readonly [name: string]: string | null };
      return COLUMNS.map(({ property, name }) => {
        if (property === 'registrationDate') return visit.write.day(registrationDate);
        const text = writeStored(visit, name, listed[name]);
        // An erased person has no page.
        const person = property === 'fullName' && listed.identity_card;
        return person
          ? html`<a class="hit" href="/person/${visit.session.persons.of(person)}">${text}</a>`
          : text;
      });
    }),
  );
}
