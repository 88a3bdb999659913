/** Plots statistics of a cooperative, or of the country. */

import { barFigure, lineFigure, MOST_PARTS } from '../desk/plots.ts';
import type { CooperativeFigures, Visit } from '../desk/screen.ts';
import { LOAN_STATUSES } from '../registry/loans.ts';
import { GENDERS, MEMBER_STATUSES, ROLES } from '../registry/members.ts';
import { nameOf } from '../registry/pages/show-stored-values.ts';
import type { ExactInteger } from '../values/decimal.ts';
import { type Html, html } from '../values/html.ts';
import {
  type Counts,
  monthsUntil,
  openStatisticsOf,
  type Statistics,
  UNKNOWN_GENDER,
} from './statistics-store.ts';

export const FIGURES: CooperativeFigures = {
  link: ({ say }, code) => html`<a href="/compare?of=${code}">${say('Compare')}</a>`,
  show(visit, cooperativeId) {
    const sums = visit.use(openStatisticsOf).ofCooperative(cooperativeId, visit.now);
    return sums === undefined
      ? html``
      : html`<div class="beside">${joined(visit, sums.members.byJoiningYear)}${counted(visit, sums)}</div>
${produced(visit, sums)}
<div class="beside">${lent(visit, sums)}${saved(visit, sums)}</div>`;
  },
};

export const countryFigures = (visit: Visit, sums: Statistics): Html =>
  html`${joined(visit, sums.members.byJoiningYear)}
${produced(visit, sums)}
<div class="beside">${lent(visit, sums)}${saved(visit, sums)}</div>
<div class="beside">${counted(visit, sums)}</div>`;

/** Years without members are shown too. */
function joined(visit: Visit, byYear: Counts): Html | false {
  const { say, write } = visit;
  const years = Object.keys(byYear).map(Number);
  if (years.length === 0) return false;
  const [first, last] = [Math.min(...years), Math.max(...years)];
  const all = Array.from({ length: last - first + 1 }, (_, i) => String(first + i));
  const values = all.map((year) => {
    const value = byYear[year] ?? 0;
    return { label: year, told: say('{label}: {value}', { label: year, value: write.number(value) }), value };
  });
  return barFigure(visit, {
    title: say('Members by year of joining'),
    values,
    most: write.number(Math.max(...values.map(({ value }) => value))),
    columns: [{ heading: say('Year') }, { heading: say('Members'), isNumber: true }],
    rows: values.map(({ label, value }) => [label, write.number(value)]),
  });
}

function counted(visit: Visit, { members }: Statistics): Html {
  const { say, translate, write } = visit;
  const figure = (title: string, values: readonly string[], counts: Counts) => {
    const rows = values.filter((value) => (counts[value] ?? 0) > 0);
    return (
      rows.length > 0 &&
      lineFigure({
        title,
        headings: [title, say('Members')],
        rows: rows.map((value) => {
          const count = counts[value] ?? 0;
          return { name: translate(nameOf(value)), parts: [count], shown: write.number(count) };
        }),
      })
    );
  };
  return html`<div>${figure(say('Members by status'), MEMBER_STATUSES, members.byStatus)}
${figure(say('Active members by gender'), [...GENDERS, UNKNOWN_GENDER], members.byGender)}</div>
${figure(say('Active members by role'), ROLES, members.byRole)}`;
}

function produced(visit: Visit, { production, asOf }: Statistics): Html | false {
  const { say, write, desk } = visit;
  if (production.length === 0) return false;
  const byProduct = new Map<string | null, bigint>();
  for (const { product, grams } of production)
    byProduct.set(product, (byProduct.get(product) ?? 0n) + BigInt(grams));
  const products = [...byProduct].sort(([, one], [, other]) => (one < other ? 1 : -1)).map(([name]) => name);
  // If there are too many products, the last ones share a colour.
  const shownProducts = products.length > MOST_PARTS ? products.slice(0, MOST_PARTS - 1) : products;
  const parts = [
    ...shownProducts.map((product) => product ?? say('without a product')),
    ...(shownProducts.length < products.length ? [say('others')] : []),
  ];
  const values = monthsUntil(asOf, desk.storage.zone).map((month) => {
    const rows = production.filter((each) => each.month === month);
    const sums = parts.map(() => 0n);
    for (const { product, grams } of rows) {
      const place = shownProducts.indexOf(product);
      const part = place < 0 ? shownProducts.length : place;
      sums[part] = (sums[part] ?? 0n) + BigInt(grams);
    }
    return { month, sums, all: sums.reduce((sum, each) => sum + each, 0n) };
  });
  const most = values.reduce((largest, { all }) => (all > largest ? all : largest), 0n);
  const weights = (sums: readonly bigint[]) =>
    sums.map((grams, i) => `${parts[i]} ${write.weight(grams)}`).join(', ');
  const nameOfMonth = (month: string) => `${write.month(month)} ${month.slice(0, 4)}`;
  return barFigure(visit, {
    title: say('Kilograms delivered by month and product, the last two years'),
    values: values.map(({ month, sums, all }) => ({
      label: nameOfMonth(month),
      told: say('{label}: {value}', { label: nameOfMonth(month), value: weights(sums) }),
      value: Number(all),
      parts: sums.map(Number),
    })),
    most: write.weight(most),
    parts,
    columns: [
      { heading: say('Month') },
      ...[...parts, say('Total')].map((heading) => ({ heading, isNumber: true as const })),
    ],
    rows: values.map(({ month, sums, all }) => [nameOfMonth(month), ...[...sums, all].map(write.weight)]),
  });
}

function lent({ say, translate, write }: Visit, { loans }: Statistics): Html | false {
  const rows = LOAN_STATUSES.filter((status) => loans[status].count > 0);
  if (rows.length === 0) return false;
  const outstanding = rows.reduce((sum, status) => sum + BigInt(loans[status].outstandingMinor), 0n);
  return lineFigure({
    title: say('Loans: {amount} outstanding', { amount: write.money(outstanding) }),
    headings: [say('Status'), say('Amount')],
    parts: [say('outstanding'), say('not outstanding')],
    rows: rows.map((status) => {
      const { count, amountMinor, outstandingMinor } = loans[status];
      const open = Number(outstandingMinor);
      return {
        name: say('{status}: {n|# loan|# loans}', { status: translate(nameOf(status)), n: count }),
        parts: [open, Math.max(Number(amountMinor) - open, 0)],
        shown: write.money(amountMinor),
      };
    }),
  });
}

function saved({ say, write }: Visit, { savings }: Statistics): Html | false {
  const { accounts, contributionsMinor, withdrawalsMinor } = savings;
  if (accounts === 0) return false;
  const row = (name: string, minor: ExactInteger) => ({
    name,
    parts: [Number(minor)],
    shown: write.money(minor),
  });
  return lineFigure({
    title: say('Savings in {n|# account|# accounts}', { n: accounts }),
    headings: [say('What'), say('Amount')],
    rows: [
      row(say('paid in'), contributionsMinor),
      row(say('paid out'), withdrawalsMinor),
      row(say('Balance'), BigInt(contributionsMinor) - BigInt(withdrawalsMinor)),
    ],
  });
}
