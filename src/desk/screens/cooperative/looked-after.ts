/** Members without a delivery this year, and loans that are late: whom a cooperative should talk to. */
import { formatDate, startOfDay } from '../../../domain/values/date-time.ts';
import { type Message, say } from '../../../domain/values/message.ts';
import type { PageRequest, Page as Rows } from '../../../domain/values/page.ts';
import { type HtmlValue, html } from '../../../html/html.ts';
import type { FieldGroup } from '../../../store/contract/access-ledger.ts';
import type { FoundMember, HeldDataStore } from '../../../store/contract/journal/held-data.ts';
import { askedOf, pages } from '../../page/list.ts';
import { type Column, table } from '../../page/parts.ts';
import type { Screen, Visit } from '../../visit/screen.ts';
import { findCooperative, pathOf } from './find-cooperative.ts';

interface Listed<Row> {
  readonly name: string;
  readonly title: Message;
  readonly fields: readonly FieldGroup[];
  readonly list: (
    held: HeldDataStore,
    visit: Visit,
    cooperativeId: number,
    request: PageRequest,
  ) => Rows<Row>;
  /** Behind the name and the code. */
  readonly columns: (visit: Visit) => readonly Column[];
  readonly cells: (visit: Visit, row: Row) => readonly HtmlValue[];
}

function listScreen<Row extends FoundMember>(listed: Listed<Row>): Screen {
  const { name, title, fields } = listed;
  return {
    path: `/cooperative/:code/${name}`,
    title,
    personal: 'some',
    async read(visit) {
      const registry = visit.use((storage) => storage.openRegistry());
      const cooperative = await findCooperative(visit, registry);
      if (cooperative === undefined) return undefined;
      const held = visit.use((storage) => storage.openHeldData());
      const { page } = askedOf(visit);
      const { rows, count } = listed.list(held, visit, cooperative.id, page);
      const numbers = held.findNumbers(rows.map(({ id }) => id));
      const body = html`<h1>${visit.translate(title)}</h1>
<p><a href="${pathOf(visit)}">${cooperative.name}</a></p>
<p>${visit.say('{n|# row|# rows}', { n: count })}</p>
${table(
  visit.translate(title),
  [{ heading: visit.say('Name') }, { heading: visit.say('Member code') }, ...listed.columns(visit)],
  rows.map((row) => {
    const person = visit.session.persons.of(numbers.get(row.id) ?? '');
    return [
      html`<a class="hit" href="/person/${person}">${row.fullName}</a>`,
      row.memberCode,
      ...listed.cells(visit, row),
    ];
  }),
)}${pages(visit, `${pathOf(visit)}/${name}`, count, page)}`;
      const subject = { memberIds: [...new Set(rows.map(({ id }) => id))] };
      return { body, shows: rows.length === 0 ? 'nobody' : { fields, subject } };
    },
  };
}

/** When the year began in which a moment is, in epoch seconds. */
const startOfYear = ({ now, desk }: Visit): number =>
  startOfDay(`${formatDate(now, desk.config.zone).slice(0, 4)}-01-01`, desk.config.zone);

export const WITHOUT_DELIVERY = listScreen({
  name: 'without-delivery',
  title: say('Members without a delivery this year'),
  fields: ['identity'],
  list: (held, visit, id, request) => held.listWithoutDelivery(id, startOfYear(visit), request),
  columns: () => [],
  cells: () => [],
});

export const LATE_LOANS = listScreen({
  name: 'late-loans',
  title: say('Late loans'),
  fields: ['identity', 'financials'],
  list: (held, { now }, id, request) => held.listLateLoans(id, now, request),
  columns: (visit) => [
    { heading: visit.say('Reference') },
    { heading: visit.say('Until') },
    { heading: visit.say('Amount'), isNumber: true },
    { heading: visit.say('Not paid back'), isNumber: true },
  ],
  cells: ({ write }, { reference, endDate, amountMinor, paidAmountMinor }) => [
    reference,
    write.day(endDate),
    write.money(amountMinor),
    write.money(amountMinor - paidAmountMinor),
  ],
});
