/** What a key may do, as a form: to issue one and to restrict one, by the rules of the commands. */

import type { KeyChanges } from '../../../app/embedding/key-changes.ts';
import { createKeys, type EmbeddedKeys } from '../../../app/embedding/keys.ts';
import { codesOf } from '../../../app/shown-keys.ts';
import {
  type ApiKey,
  type ApiKeyValues,
  SCOPE_MEANINGS,
  SCOPES,
  type Scope,
  UNRESTRICTED,
} from '../../../domain/access/api-keys.ts';
import { DEFAULT_PER_DAY, DEFAULT_PER_HOUR } from '../../../domain/access/sliding-window.ts';
import { formatDate, type TimeZone } from '../../../domain/values/date-time.ts';
import { RegistryError } from '../../../domain/values/errors.ts';
import { asMessage, say, type Text } from '../../../domain/values/message.ts';
import { type Html, html } from '../../../html/html.ts';
import type { ApiKeyStore } from '../../../store/contract/api-keys.ts';
import { form, type InputOptions, input } from '../../page/parts.ts';
import type { Form, Visit } from '../../visit/screen.ts';
import { sayAtDesk } from '../entering/row-form.ts';

const LISTS = ['allowedAddresses', 'allowedHosts', 'cooperatives'] as const;
const TEXTS = ['name', 'purpose', 'perHour', 'perDay', 'expires', ...LISTS] as const;
const BOXES = ['isLookupOnly', 'mayExport', 'requiresPurpose'] as const;

/** As it stands in the form. */
export type KeyFields = { readonly [text in (typeof TEXTS)[number]]: string } & {
  readonly [box in (typeof BOXES)[number]]: boolean;
} & { readonly scopes: readonly string[] };

/** Of a key that is to be issued. */
export const NEW_KEY: ApiKeyValues = {
  ...UNRESTRICTED,
  name: '',
  scopes: [],
  limits: { perHour: DEFAULT_PER_HOUR, perDay: DEFAULT_PER_DAY },
};

/** The last day of a key, which its date counts through. */
const lastDay = (expiresAt: number | null, zone: TimeZone): string =>
  expiresAt === null ? '' : formatDate(expiresAt - 1, zone);

/** @param codes of cooperatives, by id */
export const fieldsOf = (
  key: ApiKeyValues,
  codes: ReadonlyMap<number, string>,
  zone: TimeZone,
): KeyFields => ({
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
    ...fields,
    scopes: fields.scopes as Scope[],
    allowedAddresses: listOf(fields.allowedAddresses),
    allowedHosts: listOf(fields.allowedHosts),
    cooperatives: cooperatives ?? null,
    purpose: fields.purpose.trim() || null,
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
export function faultsOf(visit: Visit, error: unknown): string[] {
  if (!(error instanceof RegistryError) || error.fields === undefined) throw error;
  return Object.entries(error.fields).map(([field, messages]) =>
    visit.say('{label}: {value}', {
      label: visit.translate(LABELS[field] ?? field),
      value: messages.map((each) => sayAtDesk(visit, each)).join(' '),
    }),
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
  const text = (name: (typeof TEXTS)[number], more: Partial<InputOptions>): Html =>
    input({ name, label: label(name), value: values[name], ...more });
  const mayBeEmpty = (name: (typeof TEXTS)[number], hint: string, more: Partial<InputOptions> = {}): Html =>
    text(name, { isOptional: true, hint, ...more });
  const tick = (
    name: string,
    shown: string,
    isTicked: boolean,
    value = 'yes',
  ) => html`<label class="tick"><input
 type="checkbox" name="${name}" value="${value}"${isTicked && html` checked`}><span>${shown}</span></label>`;
  const box = (name: (typeof BOXES)[number], shown: string) => tick(name, shown, values[name]);
  return html`${
    faults.length > 0 &&
    html`<div class="refused" role="alert"><ul>${faults.map((fault) => html`<li>${fault}</li>`)}</ul></div>`
  }${form(visit, {
    path,
    action,
    button,
    body: html`${text('name', { maxLength: 100, hint: say('Such as the program and who runs it') })}
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
${box('isLookupOnly', say('It finds persons by the full national ID only, and shows nobody otherwise.'))}
${box('mayExport', say('It may also export all rows that its scopes show, at once.'))}
${mayBeEmpty('cooperatives', say('With commas between them; empty: all of them'))}
${mayBeEmpty('allowedAddresses', say('Such as 10.20.0.0/16; empty: from anywhere'))}
${mayBeEmpty('allowedHosts', say('Such as portal.example.rw; empty: any'))}
${mayBeEmpty('purpose', say('Recorded with each reading that states none itself'), { maxLength: 200 })}
${box('requiresPurpose', say('It must say with each reading why it reads.'))}
${text('perHour', { isNumeric: true })}${text('perDay', { isNumeric: true })}
${mayBeEmpty('expires', say('Empty: it never ends'), { type: 'date' })}</fieldset>`,
  })}`;
}
