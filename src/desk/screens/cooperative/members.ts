/** `/cooperative/…/members`: the members of a cooperative, any page of them. */
import { MEMBER_FIELDS, MEMBER_STATUSES, type MemberField } from '../../../domain/membership/members.ts';
import { listFields } from '../../../domain/values/declared-fields.ts';
import { onlyGiven } from '../../../domain/values/given.ts';
import { say } from '../../../domain/values/message.ts';
import { html } from '../../../html/html.ts';
import type { ListedMember } from '../../../store/contract/registry.ts';
import { askedOf, filterAction, filterForm, listInOrder, orderLinks, pages } from '../../page/list.ts';
import { nameOf } from '../../page/names.ts';
import { table } from '../../page/parts.ts';
import { writeStored } from '../../page/write-stored.ts';
import type { Screen, Visit } from '../../visit/screen.ts';
import { findCooperative, pathOf } from './find-cooperative.ts';

const COLUMNS = listFields<MemberField>(MEMBER_FIELDS).filter(({ isListedAtDesk }) => isListedAtDesk);
const GROUPS = [...new Set(COLUMNS.map(({ group }) => group))];

const membersPath = (visit: Visit): string => `${pathOf(visit)}/members`;

export const MEMBERS: Screen = {
  path: '/cooperative/:code/members',
  title: say('Members'),
  personal: 'some',
  async read(visit) {
    const registry = visit.use((storage) => storage.openRegistry());
    const cooperative = await findCooperative(visit, registry);
    if (cooperative === undefined) return undefined;
    const path = membersPath(visit);
    const asked = askedOf(visit);
    const filter = {
      cooperativeId: cooperative.id,
      ...onlyGiven({ search: asked.words, status: asked.choice('status', MEMBER_STATUSES) }),
    };
    const column = COLUMNS.find(({ name }) => name === visit.query.get('sort'));
    const { rows, count } = await listInOrder(
      (page) => registry.members.list(filter, page),
      asked.page,
      visit,
      column && ((row) => valueIn(row, column)),
    );
    const statuses = MEMBER_STATUSES.map((value) => [value, visit.translate(nameOf(value))] as const);
    const body = html`<h1>${visit.say('Members of {cooperative}', { cooperative: cooperative.name })}</h1>
<p><a href="${pathOf(visit)}">${visit.say('Back')}</a></p>
${filterForm(visit, path, asked, [{ name: 'status', label: visit.say('Status'), values: statuses }])}
<p>${visit.say('{n|# member|# members}', { n: count })}</p>
${membersTable(visit, path, rows)}${pages(visit, path, count, asked.page)}`;
    const subject = { memberIds: rows.map(({ id }) => id) };
    return { body, shows: rows.length === 0 ? 'nobody' : { fields: GROUPS, subject } };
  },
  actions: { filter: filterAction(membersPath, ['status']) },
};

type ListedColumn = (typeof COLUMNS)[number];

/** Of its JSON, or the instant beside it. */
const valueIn = ({ json, registrationDate }: ListedMember, { property, name }: ListedColumn) =>
  property === 'registrationDate'
    ? registrationDate
    : (JSON.parse(json) as { readonly [name: string]: string | null })[name];

function membersTable(visit: Visit, path: string, rows: readonly ListedMember[]) {
  const by = orderLinks(visit, path);
  return table(
    visit.translate(say('Members')),
    COLUMNS.map(({ label, name, property }) => ({
      heading: visit.translate(label),
      ...by(name, property === 'registrationDate' ? 'descending' : 'ascending'),
    })),
    rows.map(({ json, registrationDate }) => {
      const listed = JSON.parse(json) as { readonly [name: string]: string | null };
      return COLUMNS.map(({ property, name }) => {
        if (property === 'registrationDate') return visit.write.day(registrationDate);
        const shown = writeStored(visit, name, listed[name]);
        // Of somebody who was erased there is nothing to be opened.
        const person = property === 'fullName' && listed.identity_card;
        return person
          ? html`<a class="hit" href="/person/${visit.session.persons.of(person)}">${shown}</a>`
          : shown;
      });
    }),
  );
}
