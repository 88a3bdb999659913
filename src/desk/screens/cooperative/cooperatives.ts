/** `/cooperatives`: all of them, and what they are together. */
import { COOPERATIVE_STATUSES, type Cooperative, SECTORS } from '../../../domain/membership/cooperatives.ts';
import { onlyGiven } from '../../../domain/values/given.ts';
import { say } from '../../../domain/values/message.ts';
import { html } from '../../../html/html.ts';
import { askedOf, filterAction, filterForm, listInOrder, orderLinks, pages } from '../../page/list.ts';
import { nameOf } from '../../page/names.ts';
import { table } from '../../page/parts.ts';
import type { Screen } from '../../visit/screen.ts';
import { statistics } from './statistics.ts';

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
    const registry = visit.use((storage) => storage.openRegistry());
    const asked = askedOf(visit);
    const named = (value: string) => [value, translate(nameOf(value))] as const;
    const sums = await registry.statistics.ofCountry(visit.now);
    const districts = sums.districts.flatMap(({ name }) => (name === null ? [] : [name]));
    const filter = onlyGiven({
      search: asked.words,
      district: asked.choice('district', districts),
      sector: asked.choice('sector', SECTORS),
      status: asked.choice('status', COOPERATIVE_STATUSES),
    });
    const sort = asked.choice('sort', [...COLUMNS, MEMBERS]);
    const shownOf = (row: Cooperative, field: (typeof COLUMNS)[number]) =>
      (field === 'sector' || field === 'status') && row[field] ? translate(nameOf(row[field])) : row[field];
    const { rows, count } = await listInOrder(
      (page) => registry.cooperatives.list(filter, page),
      asked.page,
      visit,
      sort && ((row) => (sort === MEMBERS ? row.membersCount : shownOf(row, sort))),
    );
    const by = orderLinks(visit, PATH);
    const body = html`<h1>${visit.say('Cooperatives')}</h1>
<p><a href="/cooperatives/enter">${visit.say('New cooperative')}</a> ·
<a href="/compare?by=district">${visit.say('Compare')}</a></p>
${filterForm(visit, PATH, asked, [
  { name: 'district', label: translate(nameOf('district')), values: districts.map((each) => [each, each]) },
  { name: 'sector', label: translate(nameOf('sector')), values: SECTORS.map(named) },
  { name: 'status', label: visit.say('Status'), values: COOPERATIVE_STATUSES.map(named) },
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
)}${pages(visit, PATH, count, asked.page)}
<h2>${visit.say('All cooperatives together')}</h2>${statistics(visit, sums)}`;
    return { body };
  },
  actions: { filter: filterAction(() => PATH, ['district', 'sector', 'status']) },
};
