/** `/cooperative/…/members`: the members of a cooperative, any page of them. */
import { MEMBER_STATUSES } from '../../../domain/membership/members.ts';
import { onlyGiven } from '../../../domain/values/given.ts';
import { say } from '../../../domain/values/message.ts';
import { html } from '../../../html/html.ts';
import type { ListedMember } from '../../../store/contract/registry.ts';
import { askedOf, filterAction, filterForm, pages } from '../../page/list.ts';
import { nameOf } from '../../page/names.ts';
import { table } from '../../page/parts.ts';
import type { Screen, Visit } from '../../visit/screen.ts';
import { findCooperative, pathOf } from './find-cooperative.ts';

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
    const { rows, count } = await registry.members.list(filter, asked.page);
    const statuses = MEMBER_STATUSES.map((value) => [value, visit.translate(nameOf(value))] as const);
    const body = html`<h1>${visit.say('Members of {cooperative}', { cooperative: cooperative.name })}</h1>
<p><a href="${pathOf(visit)}">${visit.say('Back')}</a></p>
${filterForm(visit, path, asked, [{ name: 'status', label: visit.say('Status'), values: statuses }])}
<p>${visit.say('{n|# member|# members}', { n: count })}</p>
${membersTable(visit, rows)}${pages(visit, path, count, asked.page)}`;
    const subject = { memberIds: rows.map(({ id }) => id) };
    return { body, shows: rows.length === 0 ? 'nobody' : { fields: ['identity', 'contact'], subject } };
  },
  actions: { filter: filterAction(membersPath, ['status']) },
};

type Listed = {
  readonly [field in 'member_code' | 'full_name' | 'identity_card' | 'mobile' | 'role' | 'status']:
    | string
    | null;
};

function membersTable({ session, translate, write }: Visit, rows: readonly ListedMember[]) {
  const columns = ['member_code', 'full_name', 'mobile', 'role', 'status', 'registration_date'];
  return table(
    translate(say('Members')),
    columns.map((field) => ({ heading: translate(nameOf(field)) })),
    rows.map(({ json, registrationDate }) => {
      const listed = JSON.parse(json) as Listed;
      const { identity_card: identityCard, full_name: fullName } = listed;
      return [
        listed.member_code,
        // Of somebody who was erased there is nothing to be opened.
        identityCard === null || identityCard === ''
          ? fullName
          : html`<a class="hit" href="/person/${session.persons.of(identityCard)}">${fullName}</a>`,
        listed.mobile,
        listed.role && translate(nameOf(listed.role)),
        listed.status && translate(nameOf(listed.status)),
        write.day(registrationDate),
      ];
    }),
  );
}
