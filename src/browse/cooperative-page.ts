/** Page of one cooperative, and the list of all cooperatives. */

import { askedOf, filterAction, filterForm, listInOrder, orderLinks, pages } from '../desk/list.ts';
import { fields, form, input, refuseGiven, table } from '../desk/parts.ts';
import type { CooperativeFigures, PagePart, Screen, Visit } from '../desk/screen.ts';
import { openRegistry } from '../open-registry.ts';
import { proposeCorrection } from '../people/pages/propose-correction.ts';
import { COOPERATIVE_STATUSES, type Cooperative, SECTORS } from '../registry/cooperatives.ts';
import { codeOf, cooperativePath, findCooperative } from '../registry/pages/find-visited.ts';
import { ENTERED, nameOf } from '../registry/pages/show-stored-values.ts';
import { openStoredData } from '../registry/stored/stored-data.ts';
import { onlyGiven } from '../values/declared-fields.ts';
import { FieldError } from '../values/errors.ts';
import { type Html, html } from '../values/html.ts';
import { say } from '../values/message.ts';
import { parseNamedCode } from '../values/text.ts';
import { RECORDED } from './cooperative-list-pages.ts';

const MERGING = say('Merge two cooperatives');

/** @param parts parts of the page that modules add */
export const cooperativePage = (
  parts: readonly PagePart[],
  figures: CooperativeFigures | undefined,
): Screen => ({
  path: '/cooperative/:code',
  title: say('Cooperative'),
  // The figures show no persons, but exports of the cooperative's rows do.
  personal: 'some',
  async read(visit) {
    const cooperative = await findCooperative(visit, visit.use(openRegistry));
    if (cooperative === undefined) return undefined;
    const body = html`${head(visit, cooperative, figures)}
${figures?.show(visit, cooperative.id)}
${actions(visit, parts)}`;
    return { body, shows: 'nobody' };
  },
  actions: {
    ...Object.assign({}, ...parts.map((part) => part.actions)),
    merge(visit, submitted) {
      const path = cooperativePath(visit);
      const into = parseNamedCode(submitted.get('into'));
      if (into instanceof FieldError) return refuseGiven(visit, MERGING, path, into.text);
      return proposeCorrection(visit, submitted, {
        heading: MERGING,
        path,
        action: 'merge',
        values: { into },
        seen: [
          [visit.say('To be dissolved'), codeOf(visit)],
          [visit.say('To be kept'), into],
        ],
        back: path,
        shows: 'nobody',
        afterwards: `/cooperative/${into}`,
        run: (store, options) =>
          store.run('mergeCooperatives', { fromCode: codeOf(visit), intoCode: into }, options),
      });
    },
  },
});

function head(visit: Visit, cooperative: Cooperative, figures: CooperativeFigures | undefined): Html {
  const { say, translate, write } = visit;
  const { code, name, sector, province, district, registrationDate, status, membersCount } = cooperative;
  return html`<h1>${name}</h1>
${fields([
  [translate(nameOf('code')), code],
  [translate(nameOf('sector')), sector && translate(nameOf(sector))],
  [translate(nameOf('district')), [district, province].filter((each) => each !== null).join(', ')],
  [say('Registered'), registrationDate !== null && write.date(registrationDate)],
  [translate(nameOf('status')), translate(nameOf(status))],
  [say('Active members'), write.number(membersCount)],
])}
<p><a href="/cooperative/${code}/members">${say('Members')}</a> ·
<a href="/cooperative/${code}/change">${say('Edit the cooperative')}</a> ·
<a href="/cooperative/${code}/without-delivery">${say('Members without a delivery this year')}</a> ·
<a href="/cooperative/${code}/late-loans">${say('Late loans')}</a>${
    figures && html` ·\n${figures.link(visit, code)}`
  }</p>
<p>${say('Recorded:')} ${Object.values(RECORDED).map(
    ({ path, title }, i) =>
      html`${i > 0 && ' · '}<a href="${path.replace(':code', code)}">${translate(title)}</a>`,
  )}</p>
<p>${say('Enter rows:')} ${Object.entries(ENTERED).map(
    ([kind, { heading }], i) =>
      html`${i > 0 && ' · '}<a href="/cooperative/${code}/enter/${kind}">${translate(heading)}</a>`,
  )}</p>`;
}

function actions(visit: Visit, parts: readonly PagePart[]): Html {
  const { say, translate } = visit;
  const path = cooperativePath(visit);
  return html`<section class="forms"><h2>${say('Files and corrections')}</h2>
${parts.map(({ show }) => show(visit))}
<details><summary>${translate(MERGING)}</summary>
<p><small>${say('All members move to the other one, and this one is dissolved.')}</small></p>${form(visit, {
    path,
    action: 'merge',
    button: say('Preview'),
    body: input({ name: 'into', label: say('Code of the other cooperative'), maxLength: 32 }),
  })}</details></section>`;
}

// `/cooperatives`: list of all cooperatives

const PATH = '/cooperatives';
const COLUMNS = ['code', 'name', 'sector', 'district', 'status'] as const;
const MEMBERS = 'members';

export const COOPERATIVES: Screen = {
  path: PATH,
  title: say('Cooperatives'),
  menu: say('Cooperatives'),
  personal: 'none',
  async read(visit) {
    const { write, translate } = visit;
    const registry = visit.use(openRegistry);
    const request = askedOf(visit);
    const labelled = (value: string) => [value, translate(nameOf(value))] as const;
    const { district: districts } = visit.use(openStoredData).listPlaces();
    const filter = onlyGiven({
      search: request.words,
      district: request.choice('district', districts),
      sector: request.choice('sector', SECTORS),
      status: request.choice('status', COOPERATIVE_STATUSES),
    });
    const sort = request.choice('sort', [...COLUMNS, MEMBERS]);
    const shownOf = (row: Cooperative, field: (typeof COLUMNS)[number]) =>
      (field === 'sector' || field === 'status') && row[field] ? translate(nameOf(row[field])) : row[field];
    const { rows, count } = await listInOrder(
      (page) => registry.cooperatives.list(filter, page),
      request.page,
      visit,
      sort && ((row) => (sort === MEMBERS ? row.membersCount : shownOf(row, sort))),
    );
    const by = orderLinks(visit, PATH);
    const body = html`<h1>${visit.say('Cooperatives')}</h1>
<p><a href="/cooperatives/enter">${visit.say('New cooperative')}</a></p>
${filterForm(visit, PATH, request, [
  { name: 'district', label: translate(nameOf('district')), values: districts.map((each) => [each, each]) },
  { name: 'sector', label: translate(nameOf('sector')), values: SECTORS.map(labelled) },
  { name: 'status', label: visit.say('Status'), values: COOPERATIVE_STATUSES.map(labelled) },
])}
<p>${visit.say('{n|# cooperative|# cooperatives}', { n: count })}</p>
${table(
  visit.say('Cooperatives'),
  [
    ...COLUMNS.map((field) => ({ heading: translate(nameOf(field)), ...by(field) })),
    { heading: visit.say('Active members'), isNumber: true as const, ...by(MEMBERS, 'descending') },
  ],
  rows.map((row) => [
    ...COLUMNS.map((field) =>
      field === 'name'
        ? html`<a class="hit" href="/cooperative/${row.code}">${row.name}</a>`
        : shownOf(row, field),
    ),
    write.number(row.membersCount),
  ]),
)}${pages(visit, PATH, count, request.page)}`;
    return { body };
  },
  actions: { filter: filterAction(() => PATH, ['district', 'sector', 'status']) },
};
