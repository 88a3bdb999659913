/** Sections of a person's page: deliveries, loans with payments, and savings, with buttons on the entries. */

import { pageNumber, pages, rowsOf } from '../../desk/list.ts';
import { fields, form, table } from '../../desk/parts.ts';
import { bars } from '../../desk/plots.ts';
import type { Visit } from '../../desk/screen.ts';
import { personPath } from '../../registry/pages/find-visited.ts';
import {
  changeLink,
  type EnteredKind,
  enterLink,
  nameOf,
  numberOf,
  referenceOf,
  textOf,
} from '../../registry/pages/show-stored-values.ts';
import type { StoredMembership, StoredRow } from '../../registry/stored/stored-data-types.ts';
import { formatDate } from '../../values/date-time.ts';
import { lastPage } from '../../values/errors.ts';
import { type Html, type HtmlValue, html } from '../../values/html.ts';
import { ifGiven } from './member-values.ts';

/** Number of months in the chart, including the current month. */
const MONTHS = 24;
const SHOWN = 12;

/** Renders the end of a row, such as the buttons of the entry. */
type RowEnd = (kind: EnteredKind, row: StoredRow) => HtmlValue;

/**
 * @param person path of the person's page
 * @param list address of the page to return to after a change; by default, the person's page
 */
export const entryActions =
  (visit: Visit, person = personPath(visit), list?: string): RowEnd =>
  (kind, row) => {
    if (textOf(row, 'reference') === '') return false;
    const remove = form(visit, {
      path: person,
      action: 'remove',
      look: 'plain',
      body: '',
      hidden: { kind, cooperative: textOf(row, 'cooperative'), reference: textOf(row, 'reference') },
      button: visit.say('Remove…'),
    });
    const id = textOf(row, 'id');
    return html`<span class="screen">${changeLink(visit, person, kind, id, list)}${
      kind === 'loans' && html` ${enterLink(visit, person, 'payments', id)}`
    } ${kind !== 'payments' && remove}</span>`;
  };

/** @returns `YYYY-MM`, oldest first */
function monthsUntil(today: string): string[] {
  const [year, month] = [Number(today.slice(0, 4)), Number(today.slice(5, 7))];
  return Array.from({ length: MONTHS }, (_, i) =>
    new Date(Date.UTC(year, month - MONTHS + i, 1)).toISOString().slice(0, 7),
  );
}

/** @param name query parameter with the number of the page */
function onePage<Row>(visit: Visit, name: string, rows: readonly Row[]) {
  const page = Math.min(pageNumber(visit.query, name), Math.max(1, lastPage(rows.length, SHOWN)));
  const request = { page, pageSize: SHOWN };
  return {
    shown: rowsOf(request, rows),
    links: pages(visit, personPath(visit), rows.length, request, name),
  };
}

const newest = (rows: readonly StoredRow[], at: string): StoredRow[] =>
  rows.toSorted((one, other) => numberOf(other, at) - numberOf(one, at));

/** @param number index of the numeric column */
const columnsOf = (number: number, ...headings: string[]) => [
  ...headings.map((heading, i) => (i === number ? { heading, isNumber: true as const } : { heading })),
  { heading: '' },
];

export function deliveries(visit: Visit, all: readonly StoredMembership[], end: RowEnd): Html | false {
  const { say, write, desk, now } = visit;
  const rows = newest(
    all.flatMap((membership) => membership.deliveries),
    'delivered_at',
  );
  if (rows.length === 0) return false;
  const { shown, links } = onePage(visit, 'deliveries', rows);
  const { zone } = desk.storage;
  const months = new Map(monthsUntil(formatDate(now, zone)).map((month) => [month, 0]));
  for (const row of rows) {
    const month = formatDate(numberOf(row, 'delivered_at'), zone).slice(0, 7);
    const grams = months.get(month);
    if (grams !== undefined) months.set(month, grams + numberOf(row, 'kg'));
  }
  const plotted = [...months].map(([month, grams]) => ({
    label: write.month(month),
    told: say('{label}: {value}', {
      label: `${write.month(month)} ${month.slice(0, 4)}`,
      value: write.weight(grams),
    }),
    value: grams,
  }));
  const most = write.weight(Math.max(...months.values()));
  return html`<section><h2>${say('Deliveries')}</h2>
<figure><figcaption>${say('Kilograms delivered by month, the last two years')}</figcaption>
${bars(say('Kilograms delivered by month, the last two years'), plotted, most)}</figure>
${table(
  say('Deliveries'),
  columnsOf(2, say('Day'), say('What'), say('Weight'), say('Cooperative'), say('Reference')),
  shown.map((row) => [
    write.day(numberOf(row, 'delivered_at')),
    textOf(row, 'product'),
    write.weight(numberOf(row, 'kg')),
    textOf(row, 'cooperative'),
    referenceOf(row),
    end('production', row),
  ]),
)}${links}</section>`;
}

export function loans(visit: Visit, all: readonly StoredMembership[], end: RowEnd): Html | false {
  const entries = all.flatMap(({ loans: ofMember, payments }) =>
    ofMember.map((loan) => ({ loan, payments })),
  );
  if (entries.length === 0) return false;
  const { shown, links } = onePage(visit, 'loans', entries);
  return html`<section><h2>${visit.say('Loans')}</h2><div class="beside">${shown.map(({ loan, payments }) => {
    const ofLoan = payments.filter((payment) => textOf(payment, 'loan_id') === textOf(loan, 'id'));
    return oneLoan(visit, loan, newest(ofLoan, 'paid_at'), end);
  })}</div>${links}</section>`;
}

function oneLoan(visit: Visit, loan: StoredRow, payments: readonly StoredRow[], end: RowEnd): Html {
  const { say, write, translate } = visit;
  const [amount, paid] = [numberOf(loan, 'amount'), numberOf(loan, 'paid_amount')];
  const opening = numberOf(loan, 'opening_balance');
  const title = `${textOf(loan, 'cooperative')} · ${textOf(loan, 'reference')}`;
  const told = say('{paid} of {amount} paid back', { paid: write.money(paid), amount: write.money(amount) });
  return html`<section class="card"><h3>${title}</h3>
<p>${told}<br><progress value="${paid}" max="${amount}" aria-label="${told}"></progress></p>${fields([
    [say('Status'), translate(nameOf(textOf(loan, 'status')))],
    [say('Interest a year'), `${write.number(numberOf(loan, 'interest_rate') / 100)} %`],
    [say('From'), ifGiven(loan, 'loan_start_date', write.day)],
    [say('Until'), ifGiven(loan, 'loan_end_date', write.day)],
    [say('Paid before payments were recorded'), opening === 0 ? undefined : write.money(opening)],
  ])}${
    payments.length > 0 &&
    table(
      say('Payments of {loan}', { loan: title }),
      columnsOf(2, say('Day'), say('How'), say('Amount'), say('Reference')),
      payments.map((payment) => [
        write.day(numberOf(payment, 'paid_at')),
        html`${translate(nameOf(textOf(payment, 'method')))}${
          textOf(payment, 'status') === 'void' && html` <small>(${translate(nameOf('void'))})</small>`
        }`,
        write.money(numberOf(payment, 'amount')),
        referenceOf(payment),
        end('payments', payment),
      ]),
    )
  }${end('loans', loan)}</section>`;
}

export function savings(visit: Visit, all: readonly StoredMembership[], end: RowEnd): Html | false {
  const { say, write, translate } = visit;
  const accounts = all.flatMap((membership) => membership.savingsAccounts);
  const rows = newest(
    all.flatMap((membership) => membership.savingsTransactions),
    'transacted_at',
  );
  if (accounts.length === 0) return false;
  const { shown, links } = onePage(visit, 'savings', rows);
  const signed = (row: StoredRow) => numberOf(row, 'amount') * (row.kind === 'withdrawal' ? -1 : 1);
  const balanceOf = (account: StoredRow) =>
    rows
      .filter(
        (row) => row.account_number === account.account_number && row.cooperative === account.cooperative,
      )
      .reduce((sum, row) => sum + signed(row), 0);
  return html`<section><h2>${say('Savings')}</h2>${fields(
    accounts.map((account) => [
      `${textOf(account, 'cooperative')} · ${textOf(account, 'account_number')}`,
      write.money(balanceOf(account)),
    ]),
  )}${
    rows.length > 0 &&
    table(
      say('Savings'),
      columnsOf(3, say('Day'), say('Account'), say('What'), say('Amount'), say('Reference')),
      shown.map((row) => [
        write.day(numberOf(row, 'transacted_at')),
        textOf(row, 'account_number'),
        translate(nameOf(textOf(row, 'kind'))),
        write.money(signed(row)),
        referenceOf(row),
        end('savings', row),
      ]),
    )
  }${links}</section>`;
}
