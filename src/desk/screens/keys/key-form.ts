/** What a key may do, as a form: to issue one and to restrict one, by the rules of the commands. */

import type { KeyChanges } from '../../../app/embedding/key-changes.ts';
import { createKeys, type EmbeddedKeys } from '../../../app/embedding/keys.ts';
import { codesOf } from '../../../app/shown-keys.ts';
import { type ApiKey, SCOPE_MEANINGS, SCOPES, type Scope } from '../../../domain/access/api-keys.ts';
import { DEFAULT_PER_DAY, DEFAULT_PER_HOUR } from '../../../domain/access/sliding-window.ts';
import { formatDate, type TimeZone } from '../../../domain/values/date-time.ts';
import { RegistryError } from '../../../domain/values/errors.ts';
import { asMessage, say, type Text } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import type { ApiKeyStore } from '../../../store/ports/api-keys.ts';
import { form, input } from '../../page/parts.ts';
import type { Form, Visit } from '../../visit/screen.ts';

const LISTS = ['addresses', 'hosts', 'cooperatives'] as const;
const TEXTS = ['name', 'purpose', 'perHour', 'perDay', 'expires', ...LISTS] as const;
const BOXES = ['isLookupOnly', 'mayExport', 'requiresPurpose'] as const;

/** As it stands in the form. */
export type KeyFields = { readonly [text in (typeof TEXTS)[number]]: string } & {
  readonly [box in (typeof BOXES)[number]]: boolean;
} & { readonly scopes: readonly string[] };

export const NEW_KEY: KeyFields = {
  name: '',
  purpose: '',
  addresses: '',
  hosts: '',
  cooperatives: '',
  expires: '',
  scopes: [],
  perHour: String(DEFAULT_PER_HOUR),
  perDay: String(DEFAULT_PER_DAY),
  isLookupOnly: false,
  mayExport: false,
  requiresPurpose: false,
};

/** The last day of a key, which its date counts through. */
const lastDay = (expiresAt: number | null, zone: TimeZone): string =>
  expiresAt === null ? '' : formatDate(expiresAt - 1, zone);

/** @param codes of cooperatives, by id */
export const fieldsOf = (key: ApiKey, codes: ReadonlyMap<number, string>, zone: TimeZone): KeyFields => ({
  name: key.name,
  scopes: key.scopes,
  isLookupOnly: key.isLookupOnly,
  mayExport: key.mayExport,
  addresses: key.allowedAddresses.join(', '),
  hosts: key.allowedHosts.join(', '),
  cooperatives: (codesOf(key, codes) ?? []).join(', '),
  purpose: key.purpose ?? '',
  requiresPurpose: key.requiresPurpose,
  perHour: String(key.limits.perHour),
  perDay: String(key.limits.perDay),
  expires: lastDay(key.expiresAt, zone),
});

export const readFields = (given: Form): KeyFields =>
  ({
    scopes: given.all('scopes'),
    ...Object.fromEntries(TEXTS.map((name) => [name, given.get(name)])),
    ...Object.fromEntries(BOXES.map((name) => [name, given.get(name) !== ''])),
  }) as KeyFields;

const listOf = (text: string): string[] | null => {
  const parts = text.split(/[\s,;]+/).filter((part) => part !== '');
  return parts.length === 0 ? null : parts;
};

/**
 * @param stored undefined for a new key: what it says about the end is kept unless the form says otherwise
 * @throws RegistryError `invalid` for a code that no cooperative has
 */
export function toChanges(
  fields: KeyFields,
  stored: ApiKey | undefined,
  codes: ReadonlyMap<number, string>,
  zone: TimeZone,
): KeyChanges & { readonly name: string; readonly scopes: readonly Scope[] } {
  const ids = new Map([...codes].map(([id, code]) => [code, id]));
  // One that was undone has no code any more.
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
    name: fields.name,
    scopes: fields.scopes as Scope[],
    isLookupOnly: fields.isLookupOnly,
    mayExport: fields.mayExport,
    allowedAddresses: listOf(fields.addresses),
    allowedHosts: listOf(fields.hosts),
    cooperatives: cooperatives ?? null,
    purpose: fields.purpose.trim() || null,
    requiresPurpose: fields.requiresPurpose,
    perHour: Number(fields.perHour),
    perDay: Number(fields.perDay),
    expires: keepsEnd ? undefined : fields.expires || null,
  };
}

/** The operations of the commands. */
export const keyOperations = ({ desk }: Visit, openKeys: () => ApiKeyStore): EmbeddedKeys =>
  createKeys({
    openKeys,
    clock: desk.clock,
    zone: desk.config.zone,
    // The form knows codes, and finds their ids.
    hasCooperative: async () => true,
  });

const LABELS: { readonly [field: string]: Text } = {
  name: say('Who holds it'),
  scopes: say('What it may do'),
  allowedAddresses: say('Addresses it may come from'),
  allowedHosts: say('Hosts it may be used for'),
  cooperatives: say('Codes of the cooperatives it sees'),
  purpose: say('Purpose'),
  perHour: say('Requests an hour'),
  perDay: say('Requests a day'),
  expires: say('Last day'),
};

/** What is wrong with a form, by field. @throws whatever is no fault of the form */
export function faultsOf({ translate }: Visit, error: unknown): string[] {
  if (!(error instanceof RegistryError) || error.fields === undefined) throw error;
  return Object.entries(error.fields).map(
    ([field, messages]) =>
      `${translate(LABELS[field] ?? field)}: ${messages.map((each) => translate(each)).join(' ')}`,
  );
}

export interface KeyFormOptions {
  readonly path: string;
  readonly action: string;
  readonly values: KeyFields;
  readonly button: string;
  readonly faults?: readonly string[];
}

export function keyForm(visit: Visit, { path, action, values, button, faults = [] }: KeyFormOptions): Html {
  const { say, translate } = visit;
  const label = (field: string) => translate(LABELS[field] ?? field);
  const optional = { isOptional: true as const };
  const box = (
    name: string,
    text: string,
    isTicked: boolean,
    value = 'yes',
  ) => html`<label class="tick"><input
 type="checkbox" name="${name}" value="${value}"${isTicked && html` checked`}><span>${text}</span></label>`;
  return html`${
    faults.length > 0 &&
    html`<div class="refused" role="alert"><ul>${faults.map((fault) => html`<li>${fault}</li>`)}</ul></div>`
  }${form(visit, {
    path,
    action,
    button,
    body: html`${input({
      name: 'name',
      label: label('name'),
      value: values.name,
      maxLength: 100,
      hint: say('Such as the program and who runs it'),
    })}<fieldset><legend>${label('scopes')}</legend>${SCOPES.map((scope) =>
      box(
        'scopes',
        `${scope}: ${translate(asMessage(SCOPE_MEANINGS[scope])).replaceAll('`', '')}`,
        values.scopes.includes(scope),
        scope,
      ),
    )}</fieldset><fieldset><legend>${say('Restrictions')}</legend>
${box(
  'isLookupOnly',
  say('It finds persons by the full national ID only, and shows nobody otherwise.'),
  values.isLookupOnly,
)}
${box('mayExport', say('It may also export all rows that its scopes show, at once.'), values.mayExport)}
${input({
  name: 'cooperatives',
  label: label('cooperatives'),
  value: values.cooperatives,
  ...optional,
  hint: say('With commas between them; empty: all of them'),
})}${input({
  name: 'addresses',
  label: label('allowedAddresses'),
  value: values.addresses,
  ...optional,
  hint: say('Such as 10.20.0.0/16; empty: from anywhere'),
})}${input({
  name: 'hosts',
  label: label('allowedHosts'),
  value: values.hosts,
  ...optional,
  hint: say('Such as portal.example.rw; empty: any'),
})}${input({
  name: 'purpose',
  label: label('purpose'),
  value: values.purpose,
  maxLength: 200,
  ...optional,
  hint: say('Recorded with each reading that states none itself'),
})}${box(
  'requiresPurpose',
  say('It must say with each reading why it reads.'),
  values.requiresPurpose,
)}${input({ name: 'perHour', label: label('perHour'), value: values.perHour, isNumeric: true })}${input({
  name: 'perDay',
  label: label('perDay'),
  value: values.perDay,
  isNumeric: true,
})}${input({
  name: 'expires',
  label: label('expires'),
  value: values.expires,
  type: 'date',
  ...optional,
  hint: say('Empty: it never ends'),
})}</fieldset>`,
  })}`;
}
