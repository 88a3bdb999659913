/** The pages `/statistics`, about the country, and `/compare`, which compares cooperatives or districts. */

import { orderLinks } from '../desk/list.ts';
import { fields, form, input, table } from '../desk/parts.ts';
import { lineFigure } from '../desk/plots.ts';
import type { Screen, Visit } from '../desk/screen.ts';
import { sheetOf, WORKBOOK_TYPE } from '../formats/write-csv-and-workbooks.ts';
import { formatDate, type TimeZone } from '../values/date-time.ts';
import { type DecimalKind, type ExactInteger, formatDecimal, MONEY, WEIGHT } from '../values/decimal.ts';
import { type Html, html } from '../values/html.ts';
import { hideIdentityCards } from '../values/identity-card.ts';
import { type Message, say } from '../values/message.ts';
import { parseNamedCode } from '../values/text.ts';
import { countryFigures } from './statistics-plots.ts';
import { openStatisticsOf, type Statistics, type StatisticsStore } from './statistics-store.ts';

type GroupedBy = 'district' | 'province';

/** A cooperative, or all cooperatives of a district or province. */
interface ComparedGroup {
  /** Null for cooperatives without a district or province. */
  readonly name: string | null;
  /** Only for a cooperative. */
  readonly code?: string;
  readonly figures: Figures;
}

type Figures = ReturnType<typeof figuresOf>;

/** Returns the figures of each district or province, sorted by name; null is last. */
export function compareAll(
  statistics: StatisticsStore,
  by: GroupedBy,
  now: number,
  zone: TimeZone,
): ComparedGroup[] {
  const groups = Map.groupBy(statistics.listCooperatives(), (cooperative) => cooperative[by]);
  const sorted = [...groups].sort(([one], [other]) =>
    one === null ? 1 : other === null ? -1 : one.localeCompare(other, 'en'),
  );
  return sorted.map(([name, cooperatives]) => {
    const ids = cooperatives.map(({ id }) => id);
    const sums = statistics.ofCountry(ids, now);
    return { name, figures: figuresOf(ids.length, sums, formatDate(now, zone)) };
  });
}

/** @param today `YYYY-MM-DD`; deliveries of this and last year are summed from January to this month */
function figuresOf(cooperatives: number, { members, production, loans, savings }: Statistics, today: string) {
  const [year, month] = [Number(today.slice(0, 4)), today.slice(5, 7)];
  const joinedIn = (joining: number) => BigInt(members.byJoiningYear[joining] ?? 0);
  const gramsIn = (delivery: number) =>
    production
      .filter((each) => each.month >= `${delivery}-01` && each.month <= `${delivery}-${month}`)
      .reduce((sum, { grams }) => sum + BigInt(grams), 0n);
  return {
    cooperatives: BigInt(cooperatives),
    members: BigInt(members.byStatus.active ?? 0),
    'joined-before': joinedIn(year - 1),
    joined: joinedIn(year),
    'kg-before': gramsIn(year - 1),
    kg: gramsIn(year),
    outstanding: Object.values(loans).reduce((sum, each) => sum + BigInt(each.outstandingMinor), 0n),
    balance: BigInt(savings.contributionsMinor) - BigInt(savings.withdrawalsMinor),
  };
}

const PATH = '/compare';
const COUNTRY_PATH = '/statistics';
const MOST_COMPARED = 12;
const MOST_PROPOSED = 1_000;
const GROUPS: { readonly [by in GroupedBy]: Message } = {
  district: say('By district'),
  province: say('By province'),
};

interface Measure {
  readonly key: keyof Figures;
  readonly heading: string;
  readonly write: (value: ExactInteger) => string;
  /** Converts the figure to a number for workbooks. */
  readonly numberOf: (value: bigint) => number;
}

export const COUNTRY: Screen = {
  path: COUNTRY_PATH,
  title: say('Statistics'),
  menu: say('Statistics'),
  personal: 'none',
  read(visit) {
    const { now, desk } = visit;
    const statistics = visit.use(openStatisticsOf);
    const sums = statistics.ofCountry(null, now);
    const districts = compareAll(statistics, 'district', now, desk.storage.zone);
    const body = html`<h1>${visit.say('Statistics')}</h1>
${
  districts.length === 0
    ? html`<p>${visit.say('The registry has no cooperatives yet.')}
<a href="/import">${visit.say('Import a file')}</a></p>`
    : ofCountry(visit, districts, sums)
}
<h2 class="screen">${visit.say('Compare')}</h2>
${comparisonLinks(visit)}
<div class="screen narrow">${choosing(visit, statistics, [])}</div>`;
    return { body };
  },
};

function ofCountry(visit: Visit, districts: readonly ComparedGroup[], sums: Statistics): Html {
  const cooperatives = districts.reduce((sum, { figures }) => sum + figures.cooperatives, 0n);
  const totals = figuresOf(Number(cooperatives), sums, formatDate(visit.now, visit.desk.storage.zone));
  return html`${fields(measuresOf(visit).map(({ heading, key, write }) => [heading, write(totals[key])]))}
${countryFigures(visit, sums)}
<h2>${visit.say('By district')}</h2>
<div class="wide">${comparisonTable(visit, districts, COUNTRY_PATH)}</div>`;
}

export const COMPARE: Screen = {
  path: PATH,
  title: say('Compare'),
  personal: 'none',
  read(visit) {
    const statistics = visit.use(openStatisticsOf);
    const groups = groupsOf(visit, statistics);
    if (groups === undefined) return { goTo: COUNTRY_PATH };
    const unknown = codesOf(visit).filter((each) => groups.every(({ code }) => code !== each));
    const body = html`<h1>${visit.say('Compare')}</h1>
${
  unknown.length > 0 &&
  html`<p class="refused screen" role="alert">${visit.translate(unknownCodes(unknown))}</p>`
}
${comparisonLinks(visit)}
<div class="screen narrow">${choosing(visit, statistics, groups)}</div>
${groups.length > 0 && html`<div class="wide">${compared(visit, groups)}</div>`}`;
    return { body };
  },
  actions: {
    choose(visit, submitted) {
      const statistics = visit.use(openStatisticsOf);
      const text = submitted.get('codes');
      const words = codesByName(statistics, text) ?? (text.match(/[^\s,;]+/g) ?? []).map(toCode);
      const unknown = words.filter((word) => statistics.findCooperative(word) === undefined);
      const codes = [...codesOf(visit), ...words].filter((code) => !unknown.includes(code));
      const goTo = pathOf([...new Set(codes)]);
      // The address omits unknown codes, because the user may have typed a person's name or national ID.
      return unknown.length === 0 ? { goTo } : { goTo, told: unknownCodes(unknown) };
    },
    async export(visit) {
      const groups = groupsOf(visit, visit.use(openStatisticsOf)) ?? [];
      const measures = measuresOf(visit);
      const headings = [visit.say('Name'), ...measures.map(({ heading }) => heading)];
      const rows = sorted(visit, groups, measures).map((group) => [
        nameOfGroup(visit, group),
        ...measures.map(({ key, numberOf }) => numberOf(group.figures[key])),
      ]);
      return {
        fileName: `compared-${formatDate(visit.now, visit.desk.storage.zone)}.xlsx`,
        type: WORKBOOK_TYPE,
        parts: await sheetOf(visit.say('Compare'), headings, rows),
        shows: 'nobody',
      };
    },
  },
};

const unknownCodes = (codes: readonly string[]): Message =>
  say('There is no cooperative with the code {codes}.', {
    codes: codes.map((code) => hideIdentityCards(code)),
  });

const comparisonLinks = (visit: Visit): Html =>
  html`<p class="screen">${Object.entries(GROUPS).map(
    ([by, label]) => html`<a href="${PATH}?by=${by}">${visit.translate(label)}</a> `,
  )}</p>`;

function toCode(word: string): string {
  const code = parseNamedCode(word);
  return typeof code === 'string' ? code : word;
}

/** Reads the codes of cooperatives from the address. They are separated by dots, which no code contains. */
const codesOf = ({ query }: Visit): string[] =>
  (query.get('of') ?? '')
    .split('.')
    .filter((each) => each !== '')
    .slice(0, MOST_COMPARED);

/** @returns undefined unless 1 to `MOST_COMPARED` names contain the text */
function codesByName(statistics: StatisticsStore, text: string): readonly string[] | undefined {
  const matches = statistics
    .listCooperatives()
    .filter(({ name }) => text !== '' && name.toLowerCase().includes(text.toLowerCase()));
  return matches.length === 0 || matches.length > MOST_COMPARED ? undefined : matches.map(({ code }) => code);
}

const addressOf = (codes: readonly string[]): string =>
  `${PATH}?of=${codes.slice(0, MOST_COMPARED).join('.')}`;
const pathOf = (codes: readonly string[]): string => (codes.length === 0 ? COUNTRY_PATH : addressOf(codes));

function choosing(visit: Visit, statistics: StatisticsStore, groups: readonly ComparedGroup[]): Html {
  const codes = codesOf(visit);
  const proposed = statistics.listCooperatives().filter(({ code }) => !codes.includes(code));
  return html`${
    codes.length > 0 &&
    html`<ul>${codes.map((code) => {
      const rest = codes.filter((other) => other !== code);
      const group = groups.find((each) => each.code === code);
      return html`<li>${group === undefined ? code : nameOfGroup(visit, group)}
<a href="${pathOf(rest)}">${visit.say('Remove')}</a></li>`;
    })}</ul>`
  }${form(visit, {
    path: addressOf(codes),
    action: 'choose',
    button: codes.length === 0 ? visit.say('Show') : visit.say('Add'),
    body: input({
      name: 'codes',
      label: visit.say('Cooperative to compare'),
      hint: visit.say('Its code, or several codes separated by spaces'),
      maxLength: 400,
      proposed: proposed.slice(0, MOST_PROPOSED).map(({ code, name }) => [code, name]),
    }),
  })}`;
}

/** Leaves out unknown cooperatives. @returns undefined if the address has no groups */
function groupsOf(visit: Visit, statistics: StatisticsStore): ComparedGroup[] | undefined {
  const { now, query } = visit;
  const { zone } = visit.desk.storage;
  const by = query.get('by');
  if (by === 'district' || by === 'province') return compareAll(statistics, by, now, zone);
  const codes = codesOf(visit);
  if (codes.length === 0) return undefined;
  return codes.flatMap((code) => {
    const cooperative = statistics.findCooperative(code);
    const sums = cooperative && statistics.ofCooperative(cooperative.id, now);
    return sums ? [{ name: cooperative.name, code, figures: figuresOf(1, sums, formatDate(now, zone)) }] : [];
  });
}

const nameOfGroup = ({ say }: Visit, { name, code }: ComparedGroup): string =>
  name === null ? say('not recorded') : code === undefined ? name : `${name} (${code})`;

function measuresOf({ say, write, now, desk }: Visit): Measure[] {
  const year = Number(formatDate(now, desk.storage.zone).slice(0, 4));
  const inUnits =
    ({ fractionDigits }: DecimalKind) =>
    (value: bigint): number =>
      Number(formatDecimal(value, fractionDigits));
  const count = { write: write.number, numberOf: Number };
  const weight = { write: write.weight, numberOf: inUnits(WEIGHT) };
  const money = { write: write.money, numberOf: inUnits(MONEY) };
  const joinedIn = (joining: number) => say('Joined in {year}', { year: joining });
  const upToNow = (delivery: number) => say('Kilograms {year}, up to this month', { year: delivery });
  return [
    { key: 'cooperatives', heading: say('Cooperatives'), ...count },
    { key: 'members', heading: say('Active members'), ...count },
    { key: 'joined-before', heading: joinedIn(year - 1), ...count },
    { key: 'joined', heading: joinedIn(year), ...count },
    { key: 'kg-before', heading: upToNow(year - 1), ...weight },
    { key: 'kg', heading: upToNow(year), ...weight },
    { key: 'outstanding', heading: say('Loans outstanding'), ...money },
    { key: 'balance', heading: say('Savings'), ...money },
  ];
}

/** Sorts the groups by the column in the address, from the largest. Without a column, the order stays. */
function sorted(
  { query }: Visit,
  groups: readonly ComparedGroup[],
  measures: readonly Measure[],
): readonly ComparedGroup[] {
  const key = measures.find((measure) => measure.key === query.get('sort'))?.key;
  if (key === undefined) return groups;
  return groups.toSorted((one, other) => Number(other.figures[key] - one.figures[key]));
}

function comparisonTable(visit: Visit, groups: readonly ComparedGroup[], path: string): Html {
  const measures = measuresOf(visit);
  const by = orderLinks(visit, path);
  return table(
    visit.say('Compare'),
    [
      { heading: visit.say('Name') },
      ...measures.map(({ heading, key }) => ({ heading, isNumber: true as const, ...by(key, 'descending') })),
    ],
    sorted(visit, groups, measures).map((group) => [
      group.code === undefined
        ? nameOfGroup(visit, group)
        : html`<a href="/cooperative/${group.code}">${nameOfGroup(visit, group)}</a>`,
      ...measures.map(({ key, write }) => write(group.figures[key])),
    ]),
  );
}

function compared(visit: Visit, groups: readonly ComparedGroup[]): Html {
  const measures = measuresOf(visit);
  const rows = sorted(visit, groups, measures);
  return html`${comparisonTable(visit, groups, PATH)}
<div class="screen">${form(visit, {
    path: `${PATH}?${visit.query}`,
    action: 'export',
    body: '',
    look: 'plain',
    button: visit.say('Save as an Excel workbook'),
    saves: true,
  })}</div>
<div class="beside">${measures.map(({ heading, key, write }) =>
    lineFigure({
      title: heading,
      headings: [visit.say('Name'), heading],
      rows: rows.map((group) => ({
        name: nameOfGroup(visit, group),
        parts: [Number(group.figures[key])],
        shown: write(group.figures[key]),
      })),
    }),
  )}</div>`;
}
