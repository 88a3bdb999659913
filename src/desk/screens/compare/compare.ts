/** `/compare`: cooperatives, districts or provinces side by side, this year beside the year before. */

import { formatDate } from '../../../domain/values/date-time.ts';
import { type ExactInteger, formatDecimal, MONEY, WEIGHT } from '../../../domain/values/decimal.ts';
import { type Message, say } from '../../../domain/values/message.ts';
import { parseNamedCode } from '../../../domain/values/text.ts';
import { sheetOf, WORKBOOK_TYPE } from '../../../export/workbook.ts';
import { type Html, html } from '../../../html/html.ts';
import { lineFigure } from '../../page/figure.ts';
import { orderLinks } from '../../page/list.ts';
import { form, input, table } from '../../page/parts.ts';
import type { Screen, Visit } from '../../visit/screen.ts';
import { type ComparedGroup, compareAll, compareCooperatives, type GroupedBy } from './groups.ts';

const PATH = '/compare';
/** Cooperatives that are named at once. */
const MOST = 12;
/** Names that a browser can search while somebody types. */
const MOST_PROPOSED = 1_000;
const GROUPS: { readonly [by in GroupedBy]: Message } = {
  district: say('By district'),
  province: say('By province'),
};

/** A figure of each group. */
interface Measure {
  readonly key: string;
  readonly heading: string;
  readonly figureOf: (group: ComparedGroup) => bigint;
  readonly write: (value: ExactInteger) => string;
  /** For a workbook. */
  readonly numberOf: (value: bigint) => number;
}

export const COMPARE: Screen = {
  path: PATH,
  title: say('Compare'),
  personal: 'none',
  async read(visit) {
    const groups = await groupsOf(visit);
    const unknown = codesOf(visit).filter((each) => groups.every(({ code }) => code !== each));
    const body = html`<h1>${visit.say('Compare')}</h1>
${
  unknown.length > 0 &&
  html`<p class="refused screen" role="alert">${visit.say('There is no cooperative with the code {codes}.', {
    codes: unknown,
  })}</p>`
}
<p class="screen">${Object.entries(GROUPS).map(
      ([by, label]) => html`<a href="${PATH}?by=${by}">${visit.translate(label)}</a> `,
    )}</p>
<div class="screen narrow">${choosing(visit, groups)}</div>
${groups.length > 0 && html`<div class="wide">${compared(visit, groups)}</div>`}`;
    return { body };
  },
  actions: {
    choose(visit, given) {
      const text = given.get('codes');
      const typed =
        codesByName(visit, text) ??
        text
          .split(/[\s,;]+/)
          .filter((text) => text !== '')
          .map((text) => {
            const code = parseNamedCode(text);
            return typeof code === 'string' ? code : text.replaceAll('.', '');
          });
      return { goTo: addressOf([...new Set([...codesOf(visit), ...typed])]) };
    },
    async export(visit) {
      const groups = await groupsOf(visit);
      const measures = measuresOf(visit);
      const headings = [visit.say('Name'), ...measures.map(({ heading }) => heading)];
      const rows = sorted(visit, groups, measures).map((group) => [
        nameOfGroup(visit, group),
        ...measures.map(({ figureOf, numberOf }) => numberOf(figureOf(group))),
      ]);
      return {
        fileName: `compared-${formatDate(visit.now, visit.desk.config.zone)}.xlsx`,
        type: WORKBOOK_TYPE,
        parts: await sheetOf(visit.say('Compare'), headings, rows),
        shows: 'nobody',
      };
    },
  },
};

/** Codes have no dots. */
const codesOf = ({ query }: Visit): string[] =>
  (query.get('of') ?? '')
    .split('.')
    .filter((each) => each !== '')
    .slice(0, MOST);

/** @returns the codes of cooperatives whose name has the text; undefined for none, or too many */
function codesByName(visit: Visit, text: string): readonly string[] | undefined {
  const all = visit.use((storage) => storage.openHeldData()).listCooperatives();
  const found = all.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  return found.length === 0 || found.length > MOST ? undefined : found.map(({ code }) => code);
}

const addressOf = (codes: readonly string[]): string => `${PATH}?of=${codes.slice(0, MOST).join('.')}`;

/** The cooperatives that are compared, one after the other, each with a link that leaves it out. */
function choosing(visit: Visit, groups: readonly ComparedGroup[]): Html {
  const codes = codesOf(visit);
  const all = visit.use((storage) => storage.openHeldData()).listCooperatives();
  const left = all.filter(({ code }) => !codes.includes(code)).slice(0, MOST_PROPOSED);
  return html`${
    codes.length > 0 &&
    html`<ul>${codes.map((code) => {
      const group = groups.find((each) => each.code === code);
      return html`<li>${group === undefined ? code : nameOfGroup(visit, group)}
<a href="${addressOf(codes.filter((each) => each !== code))}">${visit.say('Leave it out')}</a></li>`;
    })}</ul>`
  }${form(visit, {
    path: addressOf(codes),
    action: 'choose',
    button: codes.length === 0 ? visit.say('Show') : visit.say('Add it'),
    body: input({
      name: 'codes',
      label: visit.say('Cooperative to compare'),
      hint: visit.say('Its code, or several with spaces between them'),
      maxLength: 400,
      proposed: left.map(({ code, name }) => [code, name]),
    }),
  })}`;
}

async function groupsOf(visit: Visit): Promise<ComparedGroup[]> {
  const { now, query } = visit;
  const { zone } = visit.desk.config;
  const by = query.get('by');
  if (by !== 'district' && by !== 'province' && codesOf(visit).length === 0) return [];
  const registry = visit.use((storage) => storage.openRegistry());
  return by === 'district' || by === 'province'
    ? compareAll(registry, by, now, zone)
    : compareCooperatives(registry, codesOf(visit), now, zone);
}

const nameOfGroup = ({ say }: Visit, { name, code }: ComparedGroup): string =>
  name === null ? say('without one') : code === undefined ? name : `${name} (${code})`;

function measuresOf({ say, write, now, desk }: Visit): Measure[] {
  const year = Number(formatDate(now, desk.config.zone).slice(0, 4));
  const count = { write: write.number, numberOf: Number };
  const weight = {
    write: write.weight,
    numberOf: (grams: bigint) => Number(formatDecimal(grams, WEIGHT.fractionDigits)),
  };
  const money = {
    write: write.money,
    numberOf: (minor: bigint) => Number(formatDecimal(minor, MONEY.fractionDigits)),
  };
  const upToNow = (of: number) => say('Kilograms {year}, up to this month', { year: of });
  return [
    {
      key: 'cooperatives',
      heading: say('Cooperatives'),
      figureOf: (group) => BigInt(group.cooperatives),
      ...count,
    },
    {
      key: 'members',
      heading: say('Active members'),
      figureOf: (group) => BigInt(group.activeMembers),
      ...count,
    },
    {
      key: 'joined-before',
      heading: say('Joined in {year}', { year: year - 1 }),
      figureOf: (group) => group.joined.before,
      ...count,
    },
    {
      key: 'joined',
      heading: say('Joined in {year}', { year }),
      figureOf: (group) => group.joined.now,
      ...count,
    },
    { key: 'kg-before', heading: upToNow(year - 1), figureOf: (group) => group.grams.before, ...weight },
    { key: 'kg', heading: upToNow(year), figureOf: (group) => group.grams.now, ...weight },
    {
      key: 'outstanding',
      heading: say('Loans outstanding'),
      figureOf: (group) => group.outstandingMinor,
      ...money,
    },
    { key: 'balance', heading: say('Savings'), figureOf: (group) => group.balanceMinor, ...money },
  ];
}

/** By the column that the address asks for, the largest first; else as they come. */
function sorted(
  { query }: Visit,
  groups: readonly ComparedGroup[],
  measures: readonly Measure[],
): readonly ComparedGroup[] {
  const measure = measures.find(({ key }) => key === query.get('sort'));
  if (measure === undefined) return groups;
  const { figureOf } = measure;
  return groups.toSorted((one, other) => Number(figureOf(other) - figureOf(one)));
}

function compared(visit: Visit, groups: readonly ComparedGroup[]): Html {
  const measures = measuresOf(visit);
  const rows = sorted(visit, groups, measures);
  const by = orderLinks(visit, PATH);
  const address = `${PATH}?${visit.query}`;
  return html`${table(
    visit.say('Compare'),
    [
      { heading: visit.say('Name') },
      ...measures.map(({ heading, key }) => ({ heading, isNumber: true as const, ...by(key, 'descending') })),
    ],
    rows.map((group) => [
      group.code === undefined
        ? nameOfGroup(visit, group)
        : html`<a href="/cooperative/${group.code}">${nameOfGroup(visit, group)}</a>`,
      ...measures.map(({ figureOf, write }) => write(figureOf(group))),
    ]),
  )}
<div class="screen">${form(visit, {
    path: address,
    action: 'export',
    body: '',
    look: 'plain',
    button: visit.say('Save as an Excel workbook'),
    saves: true,
  })}</div>
<div class="beside">${measures.map(({ heading, figureOf, write }) =>
    lineFigure({
      title: heading,
      headings: [visit.say('Name'), heading],
      rows: rows.map((group) => ({
        name: nameOfGroup(visit, group),
        parts: [Number(figureOf(group))],
        shown: write(figureOf(group)),
      })),
    }),
  )}</div>`;
}
