/** `/key/…`: one key: what it may do, how it is used, and what can be changed of it. */
import { usesOf } from '../../../app/shown-keys.ts';
import { type ApiKey, stateOfKey } from '../../../domain/access/api-keys.ts';
import { warningsOf } from '../../../domain/access/key-warnings.ts';
import { say, type Text } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import { nameOf } from '../../page/names.ts';
import { fields, form, select, table } from '../../page/parts.ts';
import type { Action, Answer, Form, Screen, Visit } from '../../visit/screen.ts';
import {
  faultsOf,
  fieldsOf,
  type KeyFields,
  keyForm,
  keyOperations,
  readFields,
  toChanges,
} from './key-form.ts';
import { narrowing, openKeys, type ReadKeys, readKeys } from './read-keys.ts';

const pathOf = ({ places }: Visit): string => `/key/${places.key}`;
const OVERLAPS = ['', '1h', '24h', '7d', '30d'] as const;

export const KEY: Screen = {
  path: '/key/:key',
  title: say('Key'),
  personal: 'none',
  read: (visit) => show(visit),
  actions: {
    restrict: change(async (visit, given, { key, codes, operations }) => {
      const { zone } = visit.desk.config;
      await operations.update(key.id, toChanges(readFields(given), key, codes, zone));
      return say('The key is changed, from its next request on.');
    }),
    rotate: change(async ({ session }, given, { key, operations }) => {
      const overlap = OVERLAPS.find((each) => each !== '' && each === given.get('overlap'));
      const issued = await operations.rotate(key.id, { overlap });
      session.issued = { keyId: key.id, secret: issued.key };
      return undefined;
    }),
    disable: change(async (_visit, _given, { key, operations }) => {
      await operations.disable(key.id);
      return say('The key is disabled, from its next request on.');
    }),
    enable: change(async (_visit, _given, { key, operations }) => {
      await operations.enable(key.id);
      return say('The key is enabled again.');
    }),
  },
};

interface Changing {
  readonly key: ApiKey;
  readonly codes: ReadonlyMap<number, string>;
  readonly operations: ReturnType<typeof keyOperations>;
}

/** @param work what it returns is said on the page of the key */
function change(work: (visit: Visit, given: Form, changing: Changing) => Promise<Text | undefined>): Action {
  return async (visit, given) => {
    const store = await openKeys(visit);
    const key = store?.find(Number(visit.places.key), visit.now);
    if (store === undefined || key === undefined) return undefined;
    const { codes } = await readKeys(visit);
    try {
      const told = await work(visit, given, { key, codes, operations: keyOperations(visit, () => store) });
      return { goTo: pathOf(visit), ...(told === undefined ? {} : { told }) };
    } catch (error) {
      return show(visit, readFields(given), faultsOf(visit, error));
    }
  };
}

/** @param values of a form that was refused */
async function show(visit: Visit, values?: KeyFields, faults: readonly string[] = []): Promise<Answer> {
  const read = await readKeys(visit);
  const key = read.keys.find(({ id }) => String(id) === visit.places.key);
  if (key === undefined) return undefined;
  const { session, now, translate, desk } = visit;
  const { issued } = session;
  // Taken away before it is shown: no other answer can have it.
  session.issued = undefined;
  const others = read.keys.filter(({ id }) => id !== key.id);
  const warnings = warningsOf(key, { now, others });
  const body = html`<h1>${key.name}</h1>${issued?.keyId === key.id && secretBox(visit, issued.secret)}
${
  warnings.length > 0 &&
  html`<section class="attention"><ul>
${warnings.map((each) => html`<li>${translate(each)}</li>`)}</ul></section>`
}
${facts(visit, key, read)}${refusals(visit, key, read)}
<section class="forms"><h2>${visit.say('Changes')}</h2>
<details class="wide"${values !== undefined && html` open`}>
<summary>${visit.say('Change what it may do')}</summary>${keyForm(visit, {
    path: pathOf(visit),
    action: 'restrict',
    faults,
    button: visit.say('Change the key'),
    values: values ?? fieldsOf(key, read.codes, desk.config.zone),
  })}</details>
${rotateForm(visit)}${switchForm(visit, key)}</section>
<p><a href="/keys">${visit.say('All keys')}</a></p>`;
  return { body, ...(values === undefined ? {} : { status: 422 }) };
}

/** A page that a browser brings back from its memory has lost it (../../assets/desk.js). */
const secretBox = ({ say }: Visit, secret: string): Html => html`<section class="told" data-once>
<p>${say('This is the only time the key is shown. Keep it like a password.')}</p>
<p><code class="secret">${secret}</code></p></section>`;

function facts(visit: Visit, key: ApiKey, { uses, codes }: ReadKeys): Html {
  const { say, translate, write, now } = visit;
  const { day, number, moment } = write;
  const [admitted] = usesOf(key, uses, 'admitted');
  return fields([
    [translate(nameOf('status')), translate(nameOf(`key_${stateOfKey(key, now)}`))],
    [say('Starts with'), key.prefixes.join(', ')],
    [say('What it may do'), key.scopes.join(', ')],
    [say('Only'), narrowing(visit, key, codes).join(', ')],
    [say('Purpose'), key.requiresPurpose ? say('stated with each reading') : key.purpose],
    [
      say('Limits'),
      say('{hour} requests an hour, {day} a day', {
        hour: number(key.limits.perHour),
        day: number(key.limits.perDay),
      }),
    ],
    [
      say('Admitted'),
      admitted === undefined
        ? say('never')
        : say('{requests} requests, the last one {at}', {
            requests: number(admitted.requests),
            at: moment(admitted.lastAt),
          }),
    ],
    [say('Last day'), key.expiresAt === null ? say('never') : day(key.expiresAt - 1)],
    [say('Issued'), moment(key.createdAt)],
    [say('Changed'), moment(key.updatedAt)],
  ]);
}

function refusals({ say, write }: Visit, key: ApiKey, { uses }: ReadKeys): readonly (Html | false)[] {
  const shown = (kind: 'refused' | 'deprecated', title: string) => {
    const rows = usesOf(key, uses, kind);
    return (
      rows.length > 0 &&
      html`<h2>${title}</h2>${table(
        title,
        [{ heading: say('What') }, { heading: say('Requests'), isNumber: true }, { heading: say('Last') }],
        rows.map(({ name, requests, lastAt }) => [name, write.number(requests), write.moment(lastAt)]),
      )}`
    );
  };
  return [
    shown('refused', say('Refused in the last day')),
    shown('deprecated', say('What it uses that will end')),
  ];
}

function rotateForm(visit: Visit): Html {
  const { say } = visit;
  const shown: { readonly [overlap in (typeof OVERLAPS)[number]]: string } = {
    '': say('ends at once'),
    '1h': say('1 hour more'),
    '24h': say('1 day more'),
    '7d': say('7 days more'),
    '30d': say('30 days more'),
  };
  return html`<details><summary>${say('Issue a new secret')}</summary>
<p><small>${say('Its id, limits and usage stay.')}</small></p>${form(visit, {
    path: pathOf(visit),
    action: 'rotate',
    button: say('Issue a new secret'),
    body: select(
      'overlap',
      say('The old secret'),
      OVERLAPS.map((each) => [each, shown[each]]),
    ),
  })}</details>`;
}

function switchForm(visit: Visit, { isActive }: ApiKey): Html {
  const { say } = visit;
  const [action, label] = isActive
    ? ['disable', say('Disable the key')]
    : ['enable', say('Enable the key again')];
  return html`<details><summary>${label}</summary>
<p><small>${say('From the next request on. It can be taken back at any time.')}</small></p>${form(visit, {
    path: pathOf(visit),
    action,
    body: '',
    button: label,
    ...(isActive ? { look: 'danger' as const } : {}),
  })}</details>`;
}
