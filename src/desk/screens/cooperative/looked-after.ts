/** Lists of a cooperative: what was recorded there, by kind, and whom it should talk to. */
import { formatDate, startOfDay } from '../../../domain/values/date-time.ts';
import { type Message, say } from '../../../domain/values/message.ts';
import type { Page as Rows } from '../../../domain/values/page.ts';
import { type Html, type HtmlValue, html } from '../../../html/html.ts';
import type { FieldGroup } from '../../../store/contract/access-ledger.ts';
import {
  type FoundMember,
  type HeldDataStore,
  type OrderedRequest,
  type RecordedKind,
  type RecordedRow,
  ROW_ORDERS,
  type RowOrder,
} from '../../../store/contract/journal/held-data.ts';
import { referenceOf } from '../../page/held-values.ts';
import { askedOf, filterAction, filterForm, orderLinks, pages } from '../../page/list.ts';
import { nameOf } from '../../page/names.ts';
import { type Column, table } from '../../page/parts.ts';
import type { Screen, Visit } from '../../visit/screen.ts';
import { entryActions } from '../person/corrections.ts';
import { findCooperative, pathOf } from './find-cooperative.ts';

/** What a list asks for. */
interface Asked extends OrderedRequest {
  readonly cooperativeId: number;
  readonly memberCode: string | undefined;
}

/** What makes a column one that the list can be in order of. */
type InOrder = (order: RowOrder, way?: 'descending') => Pick<Column, 'link' | 'order'>;

interface Listed<Row> {
  readonly name: string;
  readonly title: Message;
  readonly fields: readonly FieldGroup[];
  /** Whether the rows of one member can be asked for. */
  readonly isFiltered?: true;
  readonly list: (held: HeldDataStore, visit: Visit, asked: Asked) => Rows<Row>;
  /** Behind the name and the code. */
  readonly columns: (visit: Visit, by: InOrder) => readonly Column[];
  /** @param person the address of the page of the person; undefined of one who was erased */
  readonly cells: (visit: Visit, row: Row, person: string | undefined) => readonly HtmlValue[];
}

function listScreen<Row extends FoundMember>(listed: Listed<Row>): Screen {
  const { name, title, fields, isFiltered } = listed;
  const listPath = (visit: Visit) => `${pathOf(visit)}/${name}`;
  return {
    path: `/cooperative/:code/${name}`,
    title,
    personal: 'some',
    async read(visit) {
      const registry = visit.use((storage) => storage.openRegistry());
      const cooperative = await findCooperative(visit, registry);
      if (cooperative === undefined) return undefined;
      const held = visit.use((storage) => storage.openHeldData());
      const path = listPath(visit);
      const { page, text, choice } = askedOf(visit);
      const name = { cooperativeCode: cooperative.code, memberCode: text, isTyped: true } as const;
      const [named] = text === '' ? [] : held.findMembers(name);
      const { rows, count } = listed.list(held, visit, {
        ...page,
        order: choice('sort', ROW_ORDERS),
        cooperativeId: cooperative.id,
        memberCode: text === '' ? undefined : (named?.memberCode ?? text),
      });
      const body = html`<h1>${visit.translate(title)}</h1>
<p><a href="${pathOf(visit)}">${cooperative.name}</a></p>
${isFiltered && filterForm(visit, path, { text }, [], say('Member code'))}
<p>${
        count === 0 && text !== ''
          ? visit.say('Nothing of a member with the code “{text}” is here.', { text })
          : visit.say('{n|# row|# rows}', { n: count })
      }</p>
${rowsTable(visit, path, listed, rows, held)}${pages(visit, path, count, page)}`;
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
  held: HeldDataStore,
): Html {
  const numbers = held.findNumbers(rows.map(({ id }) => id));
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

/** When the year began in which a moment is, in epoch seconds. */
const startOfYear = ({ now, desk }: Visit): number =>
  startOfDay(`${formatDate(now, desk.config.zone).slice(0, 4)}-01-01`, desk.config.zone);

export const WITHOUT_DELIVERY = listScreen({
  name: 'without-delivery',
  title: say('Members without a delivery this year'),
  fields: ['identity'],
  list: (held, visit, asked) => held.listWithoutDelivery(asked.cooperativeId, startOfYear(visit), asked),
  columns: () => [],
  cells: () => [],
});

export const LATE_LOANS = listScreen({
  name: 'late-loans',
  title: say('Late loans'),
  fields: ['identity', 'financials'],
  list: (held, { now }, asked) => held.listLateLoans(asked.cooperativeId, now, asked),
  columns: (visit, by) => [
    { heading: visit.say('Reference'), ...by('reference') },
    { heading: visit.say('Until'), ...by('day', 'descending') },
    { heading: visit.say('Amount'), isNumber: true, ...by('amount', 'descending') },
    { heading: visit.say('Not paid back'), isNumber: true, ...by('left', 'descending') },
  ],
  cells: ({ write }, { reference, endDate, amountMinor, paidAmountMinor }) => [
    reference,
    write.day(endDate),
    write.money(amountMinor),
    write.money(amountMinor - paidAmountMinor),
  ],
});

const here = (visit: Visit, name: string): string =>
  `${pathOf(visit)}/${name}${visit.query.size === 0 ? '' : `?${visit.query}`}`;

/** @param name in the address */
const recorded = (kind: RecordedKind, name: string): Screen =>
  listScreen<RecordedRow>({
    name,
    title: nameOf(kind),
    fields: ['identity', 'financials'],
    isFiltered: true,
    list: (held, _visit, asked) => held.listRecorded(kind, asked.cooperativeId, asked.memberCode, asked),
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

/** By the kinds of their rows. */
export const RECORDED: { readonly [kind in RecordedKind]: Screen } = {
  production: recorded('production', 'deliveries'),
  savings: recorded('savings', 'savings'),
  loans: recorded('loans', 'loans'),
  payments: recorded('payments', 'payments'),
};
