/** `/cooperatives`: all of them, and what they are together. */
import { COOPERATIVE_STATUSES, SECTORS } from '../../../domain/membership/cooperatives.ts';
import { onlyGiven } from '../../../domain/values/given.ts';
import { say } from '../../../domain/values/message.ts';
import { html } from '../../../html/html.ts';
import { askedOf, filterAction, filterForm, pages } from '../../page/list.ts';
import { nameOf } from '../../page/names.ts';
import { table } from '../../page/parts.ts';
import type { Screen } from '../../visit/screen.ts';
import { statistics } from './statistics.ts';

const PATH = '/cooperatives';

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
    const { rows, count } = await registry.cooperatives.list(filter, asked.page);
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
    ...['code', 'name', 'sector', 'district', 'status'].map((field) => ({
      heading: translate(nameOf(field)),
    })),
    { heading: visit.say('Active members'), isNumber: true as const },
  ],
  rows.map(({ code, name, sector, district, status, membersCount }) => [
    code,
    html`<a class="hit" href="/cooperative/${code}">${name}</a>`,
    sector && translate(nameOf(sector)),
    district,
    translate(nameOf(status)),
    write.number(membersCount),
  ]),
)}${pages(visit, PATH, count, asked.page)}
<h2>${visit.say('All cooperatives together')}</h2>${statistics(visit, sums)}`;
    return { body };
  },
  actions: { filter: filterAction(() => PATH, ['district', 'sector', 'status']) },
};
