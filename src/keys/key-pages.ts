/** The desk's pages of keys: all keys with a form to issue a key, and one key (docs/keys.md). */

import { type ApiKeyStore, hasKeys, type KeyUse, openKeys } from '../access/api-key-store.ts';
import {
  type ApiKey,
  type ApiKeyValues,
  NEW_KEY,
  SCOPE_MEANINGS,
  SCOPES,
  stateOfKey,
} from '../access/api-keys.ts';
import { fields, form, type InputOptions, input, select, table } from '../desk/parts.ts';
import type { Action, Answer, Form, Screen, Visit } from '../desk/screen.ts';
import { sayAtDesk } from '../entering/new-or-changed-row-form.ts';
import { nameOf } from '../registry/pages/show-stored-values.ts';
import { openStoredData } from '../registry/stored/stored-data.ts';
import { formatDate, type TimeZone } from '../values/date-time.ts';
import { RegistryError } from '../values/errors.ts';
import { type Html, html } from '../values/html.ts';
import { asMessage, say, type Text } from '../values/message.ts';
import { createKeys, type KeyOperations, type NewKey } from './key-operations.ts';
import { codesOf, refusalsOf, usesOf, warningsOf } from './key-text.ts';

const LISTS = ['allowedAddresses', 'allowedHosts', 'cooperatives'] as const;
const TEXTS = ['name', 'purpose', 'perHour', 'perDay', 'expires', ...LISTS] as const;
const BOXES = ['isLookupOnly', 'mayExport', 'requiresPurpose'] as const;

type KeyFields = { readonly [text in (typeof TEXTS)[number]]: string } & {
  readonly [box in (typeof BOXES)[number]]: boolean;
} & { readonly scopes: readonly string[] };

/** Returns the last day of a key; `expiresAt` is the first instant after this day. */
const lastDay = (expiresAt: number | null, zone: TimeZone): string =>
  expiresAt === null ? '' : formatDate(expiresAt - 1, zone);

const fieldsOf = (key: ApiKeyValues, codes: ReadonlyMap<number, string>, zone: TimeZone): KeyFields => ({
  name: key.name,
  scopes: key.scopes,
  isLookupOnly: key.isLookupOnly,
  mayExport: key.mayExport,
  allowedAddresses: key.allowedAddresses.join(', '),
  allowedHosts: key.allowedHosts.join(', '),
  cooperatives: (codesOf(key, codes) ?? []).join(', '),
  purpose: key.purpose ?? '',
  requiresPurpose: key.requiresPurpose,
  perHour: String(key.limits.perHour),
  perDay: String(key.limits.perDay),
  expires: lastDay(key.expiresAt, zone),
});

const readFields = (submitted: Form): KeyFields =>
  ({
    scopes: submitted.all('scopes'),
    ...Object.fromEntries(TEXTS.map((name) => [name, submitted.get(name)])),
    ...Object.fromEntries(BOXES.map((name) => [name, submitted.get(name) !== ''])),
  }) as KeyFields;

const listOf = (text: string): string[] | null => {
  const parts = text.split(/[\s,;]+/).filter((part) => part !== '');
  return parts.length === 0 ? null : parts;
};

/**
 * @param stored undefined for a new key; a stored key keeps its expiry unless the form changes the day
 * @throws RegistryError `invalid` for an unknown code of a cooperative
 */
function toChanges(
  fields: KeyFields,
  stored: ApiKey | undefined,
  codes: ReadonlyMap<number, string>,
  zone: TimeZone,
): NewKey {
  const ids = new Map([...codes].map(([id, code]) => [code, id]));
  // For a cooperative whose creation was undone, the form shows the id, such as `#7`, instead of a code.
  const withoutCode = (text: string) => stored?.cooperatives?.find((id) => text === `#${id}`);
  const cooperatives = listOf(fields.cooperatives)?.map((code) => {
    const id = ids.get(code.toUpperCase()) ?? withoutCode(code);
    if (id !== undefined) return id;
    throw new RegistryError('invalid', '', {
      fields: { cooperatives: ['There is no cooperative with this code.'] },
    });
  });
  const keepsEnd = stored !== undefined && fields.expires === lastDay(stored.expiresAt, zone);
  return {
    ...fields,
    allowedAddresses: listOf(fields.allowedAddresses),
    allowedHosts: listOf(fields.allowedHosts),
    cooperatives: cooperatives ?? null,
    purpose: fields.purpose.trim() || null,
    perHour: Number(fields.perHour),
    perDay: Number(fields.perDay),
    expires: keepsEnd ? undefined : fields.expires || null,
  };
}

const LABELS: { readonly [field: string]: Text } = {
  name: say('Holder'),
  scopes: say('Permissions'),
  allowedAddresses: say('Allowed addresses'),
  allowedHosts: say('Allowed hosts'),
  cooperatives: say('Codes of its cooperatives'),
  purpose: say('Purpose'),
  perHour: say('Requests an hour'),
  perDay: say('Requests a day'),
  expires: say('Last day'),
};

/** Returns the faults of a form, one text for each field. @throws `error` if it is not about fields */
function faultsOf(visit: Visit, error: unknown): string[] {
  if (!(error instanceof RegistryError) || error.fields === undefined) throw error;
  return Object.entries(error.fields).map(([field, messages]) =>
    visit.say('{label}: {value}', {
      label: visit.translate(LABELS[field] ?? field),
      value: messages.map((message) => sayAtDesk(visit, message)).join(' '),
    }),
  );
}

interface KeyFormOptions {
  readonly path: string;
  readonly action: string;
  readonly values: KeyFields;
  readonly button: string;
  readonly faults: readonly string[];
}

function keyForm(visit: Visit, { path, action, values, button, faults }: KeyFormOptions): Html {
  const { say, translate } = visit;
  const label = (field: string) => translate(LABELS[field] ?? field);
  const text = (name: (typeof TEXTS)[number], more: Partial<InputOptions>): Html =>
    input({ name, label: label(name), value: values[name], ...more });
  const mayBeEmpty = (name: (typeof TEXTS)[number], hint: string, more: Partial<InputOptions> = {}): Html =>
    text(name, { isOptional: true, hint, ...more });
  const tick = (
    name: string,
    title: string,
    isTicked: boolean,
    value = 'yes',
  ) => html`<label class="tick"><input
 type="checkbox" name="${name}" value="${value}"${isTicked && html` checked`}><span>${title}</span></label>`;
  const box = (name: (typeof BOXES)[number], title: string) => tick(name, title, values[name]);
  return html`${
    faults.length > 0 &&
    html`<div class="refused" role="alert"><ul>${faults.map((fault) => html`<li>${fault}</li>`)}</ul></div>`
  }${form(visit, {
    path,
    action,
    button,
    body: html`${text('name', { maxLength: 100, hint: say('Such as the program and its operator') })}
<fieldset><legend>${label('scopes')}</legend>${SCOPES.map((scope) =>
      tick(
        'scopes',
        visit.say('{label}: {value}', {
          label: scope,
          value: translate(asMessage(SCOPE_MEANINGS[scope])).replaceAll('`', ''),
        }),
        values.scopes.includes(scope),
        scope,
      ),
    )}</fieldset><fieldset><legend>${say('Restrictions')}</legend>
${box('isLookupOnly', say('Lookups by full national ID only: it shows no other persons.'))}
${box('mayExport', say('It may also export all rows that its scopes allow.'))}
${mayBeEmpty('cooperatives', say('Separated by commas; empty: all'))}
${mayBeEmpty('allowedAddresses', say('Such as 10.20.0.0/16; empty: from anywhere'))}
${mayBeEmpty('allowedHosts', say('Such as portal.example.rw; empty: any'))}
${mayBeEmpty('purpose', say('Recorded for requests that state no purpose'), { maxLength: 200 })}
${box('requiresPurpose', say('Each request must state its purpose.'))}
${text('perHour', { isNumeric: true })}${text('perDay', { isNumeric: true })}
${mayBeEmpty('expires', say('Empty: no end date'), { type: 'date' })}</fieldset>`,
  })}`;
}

interface ReadKeys {
  readonly keys: readonly ApiKey[];
  readonly uses: readonly KeyUse[];
  readonly codes: ReadonlyMap<number, string>;
}

function readCodes(visit: Visit): ReadonlyMap<number, string> {
  const summaries = visit.use(openStoredData).listCooperatives();
  return new Map(summaries.map(({ id, code }) => [id, code]));
}

/** @returns undefined if no key was issued yet */
const openVisitKeys = (visit: Visit): ApiKeyStore | undefined =>
  hasKeys(visit.desk.storage) ? visit.use((storage) => openKeys(storage, 'manage')) : undefined;

function readKeys(visit: Visit): ReadKeys {
  const store = openVisitKeys(visit);
  return {
    keys: store?.list(visit.now) ?? [],
    uses: store?.uses(visit.now) ?? [],
    codes: readCodes(visit),
  };
}

function narrowing({ say }: Visit, key: ApiKey, codes: ReadonlyMap<number, string>): string[] {
  return [
    ...(key.isLookupOnly ? [say('lookups only')] : []),
    ...(codesOf(key, codes) ?? []),
    ...key.allowedAddresses,
    ...key.allowedHosts,
    ...(key.mayExport ? [say('exports')] : []),
  ];
}

const PATH = '/keys';

export const KEYS: Screen = {
  path: PATH,
  title: say('Keys'),
  menu: say('Keys'),
  personal: 'none',
  async read(visit) {
    const read = readKeys(visit);
    const body = html`<h1>${visit.say('Keys')}</h1>${
      read.keys.length === 0 ? html`<p>${visit.say('None yet.')}</p>` : keysTable(visit, read)
    }
<details class="wide"><summary>${visit.say('Issue a key')}</summary>${issueForm(
      visit,
      fieldsOf(NEW_KEY, read.codes, visit.desk.storage.zone),
    )}</details>`;
    return { body };
  },
  actions: {
    async issue(visit, submitted) {
      const values = readFields(submitted);
      const codes = readCodes(visit);
      const { zone } = visit.desk.storage;
      try {
        const changes = toChanges(values, undefined, codes, zone);
        const open = () => visit.use((storage) => openKeys(storage, 'issue'));
        const issued = createKeys(open, visit.now, zone).create(changes);
        visit.session.issued = { keyId: issued.id, secret: issued.secret };
        return { goTo: `/key/${issued.id}` };
      } catch (error) {
        const form = issueForm(visit, values, faultsOf(visit, error));
        const body = html`<h1>${visit.say('Issue a key')}</h1><div class="wide">${form}</div>
<p><a href="${PATH}">${visit.say('Back')}</a></p>`;
        return { body, status: 422 };
      }
    },
  },
};

const issueForm = (visit: Visit, values: KeyFields, faults: readonly string[] = []): Html =>
  keyForm(visit, { path: PATH, action: 'issue', values, button: visit.say('Issue the key'), faults });

function keysTable(visit: Visit, { keys, uses, codes }: ReadKeys): Html {
  const { say, translate, write, now } = visit;
  const number = (heading: string) => ({ heading, isNumber: true as const });
  return table(
    say('Keys'),
    [
      { heading: say('Holder') },
      { heading: translate(nameOf('status')) },
      { heading: say('Permissions') },
      { heading: say('Only') },
      number(say('Limits')),
      number(say('Last request')),
      number(say('Refused, last day')),
    ],
    keys.map((key) => {
      const [admitted] = usesOf(key, uses, 'admitted');
      const refusals = refusalsOf(key, uses);
      const state = stateOfKey(key, now);
      const stateName = translate(nameOf(`key_${state}`));
      return [
        html`<a class="hit" href="/key/${key.id}">${key.name}</a><br>
<small>${key.prefixes.join(', ')}</small>`,
        state === 'active' ? stateName : html`<b>${stateName}</b>`,
        key.scopes.map((scope, i) => html`${i > 0 && html`<br>`}${scope}`),
        narrowing(visit, key, codes).join(', '),
        html`${say('{n} an hour', { n: write.number(key.limits.perHour) })}<br>
${say('{n} a day', { n: write.number(key.limits.perDay) })}`,
        admitted === undefined
          ? say('never')
          : html`${write.number(admitted.requests)}<br><small>${write.moment(admitted.lastAt)}</small>`,
        refusals > 0 && write.number(refusals),
      ];
    }),
  );
}

const pathOf = ({ places }: Visit): string => `/key/${places.key}`;
const OVERLAPS = ['', '1h', '24h', '7d', '30d'] as const;

export const KEY: Screen = {
  path: '/key/:key',
  title: say('Key'),
  personal: 'none',
  read: async (visit) => show(visit),
  actions: {
    restrict: change((visit, submitted, key, operations) => {
      const { zone } = visit.desk.storage;
      operations.update(key.id, toChanges(readFields(submitted), key, readCodes(visit), zone));
      return say('The key was changed, effective from its next request.');
    }),
    rotate: change(({ session }, submitted, key, operations) => {
      const overlap = OVERLAPS.find((time) => time !== '' && time === submitted.get('overlap'));
      const issued = operations.rotate(key.id, overlap);
      session.issued = { keyId: key.id, secret: issued.secret };
      return undefined;
    }),
    disable: change((_visit, _submitted, key, operations) => {
      operations.activate(key.id, false);
      return say('The key was disabled, effective from its next request.');
    }),
    enable: change((_visit, _submitted, key, operations) => {
      operations.activate(key.id, true);
      return say('The key is enabled again.');
    }),
  },
};

/** @param work returns the message that the page of the key then shows, if any */
function change(
  work: (visit: Visit, submitted: Form, key: ApiKey, operations: KeyOperations) => Text | undefined,
): Action {
  return async (visit, submitted) => {
    const store = openVisitKeys(visit);
    const key = store?.find(Number(visit.places.key), visit.now);
    if (store === undefined || key === undefined) return undefined;
    try {
      const operations = createKeys(() => store, visit.now, visit.desk.storage.zone);
      const told = work(visit, submitted, key, operations);
      return { goTo: pathOf(visit), ...(told === undefined ? {} : { told }) };
    } catch (error) {
      return show(visit, readFields(submitted), faultsOf(visit, error));
    }
  };
}

/** @param values values of a refused form, which the page shows again */
function show(visit: Visit, values?: KeyFields, faults: readonly string[] = []): Answer {
  const read = readKeys(visit);
  const key = read.keys.find(({ id }) => String(id) === visit.places.key);
  if (key === undefined) return undefined;
  const { session, now, translate, desk } = visit;
  const { issued } = session;
  // The secret is removed before the response is sent, so that no later response can contain the secret.
  session.issued = undefined;
  const others = read.keys.filter(({ id }) => id !== key.id);
  const warnings = warningsOf(key, { now, others });
  const body = html`<h1>${key.name}</h1>${issued?.keyId === key.id && secretBox(visit, issued.secret)}
${
  warnings.length > 0 &&
  html`<section class="attention"><ul>
${warnings.map((warning) => html`<li>${translate(warning)}</li>`)}</ul></section>`
}
${facts(visit, key, read)}${refusals(visit, key, read)}
<section class="forms"><h2>${visit.say('Changes')}</h2>
<details class="wide"${values !== undefined && html` open`}>
<summary>${visit.say('Change permissions')}</summary>${keyForm(visit, {
    path: pathOf(visit),
    action: 'restrict',
    faults,
    button: visit.say('Change the key'),
    values: values ?? fieldsOf(key, read.codes, desk.storage.zone),
  })}</details>
${rotateForm(visit)}${switchForm(visit, key)}</section>
<p><a href="/keys">${visit.say('All keys')}</a></p>`;
  return { body, ...(values === undefined ? {} : { status: 422 }) };
}

/** Shows a new secret. The script `desk/assets/desk.js` removes it before the browser caches the page. */
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
    [say('Permissions'), key.scopes.join(', ')],
    [say('Only'), narrowing(visit, key, codes).join(', ')],
    [say('Purpose'), key.requiresPurpose ? say('stated by each request') : key.purpose],
    [
      say('Limits'),
      say('{hour} requests an hour, {day} a day', {
        hour: number(key.limits.perHour),
        day: number(key.limits.perDay),
      }),
    ],
    [
      say('Requests'),
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
  const usesTable = (kind: 'refused' | 'deprecated', title: string) => {
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
    usesTable('refused', say('Refused in the last day')),
    usesTable('deprecated', say('Deprecated features in use')),
  ];
}

function rotateForm(visit: Visit): Html {
  const { say } = visit;
  const labels: { readonly [overlap in (typeof OVERLAPS)[number]]: string } = {
    '': say('ends at once'),
    '1h': say('1 hour more'),
    '24h': say('1 day more'),
    '7d': say('7 days more'),
    '30d': say('30 days more'),
  };
  return html`<details><summary>${say('Issue a new secret')}</summary>
<p><small>${say('Its id, limits and usage stay the same.')}</small></p>${form(visit, {
    path: pathOf(visit),
    action: 'rotate',
    button: say('Issue a new secret'),
    body: select(
      'overlap',
      say('The old secret'),
      OVERLAPS.map((overlap) => [overlap, labels[overlap]]),
    ),
  })}</details>`;
}

function switchForm(visit: Visit, { isActive }: ApiKey): Html {
  const { say } = visit;
  const [action, label] = isActive
    ? ['disable', say('Disable the key')]
    : ['enable', say('Enable the key again')];
  return html`<details><summary>${label}</summary>
<p><small>${say('Effective from the next request. It can be reversed at any time.')}</small></p>${form(
    visit,
    {
      path: pathOf(visit),
      action,
      body: '',
      button: label,
      ...(isActive ? { look: 'danger' as const } : {}),
    },
  )}</details>`;
}
