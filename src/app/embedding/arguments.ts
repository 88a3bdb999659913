/** What embedding programs pass: a program in JavaScript has no types, so every wrong value is named. */
import { IDENTITY_CARD_ERROR, isIdentityCard } from '../../domain/membership/identity-card.ts';
import { FieldError, invalidFields, refuseFields, shownName } from '../../domain/values/errors.ts';
import { parseId } from '../../domain/values/ids.ts';
import { NOT_A_STRING } from '../../domain/values/text.ts';

/** As the objects give it, or the same as a number. */
export type Id = string | number;

/** The type of each option; those with `!` are required. */
export interface OptionTypes {
  readonly [name: string]: `${'string' | 'number' | 'boolean' | 'array' | 'function' | 'object'}${'' | '!'}`;
}

/** What is wrong with options, by name. */
export function findOptionFaults(options: unknown, types: OptionTypes): Map<string, string> {
  const faults = new Map<string, string>();
  if (options !== undefined && (typeof options !== 'object' || options === null || Array.isArray(options)))
    return faults.set('options', 'Expected an object.');
  const given = new Map(Object.entries(options ?? {}).filter(([, value]) => value !== undefined));
  for (const [name, type] of Object.entries(types))
    if (type.endsWith('!') && !given.has(name)) faults.set(name, 'It is required.');
  for (const [name, value] of given) {
    const type = Object.hasOwn(types, name) ? types[name]?.replace('!', '') : undefined;
    if (type === undefined) faults.set(shownName(name), 'There is no such option.');
    else if (type === 'array' ? !Array.isArray(value) : typeof value !== type || value === null)
      faults.set(name, `Expected a value of type ${type}.`);
    // An empty setting means its default, but an empty option is a mistake: `db: ''` would open the
    // database of `serve`.
    else if (typeof value === 'string' && value.trim() === '') faults.set(name, 'It is empty.');
  }
  return faults;
}

/** @throws RegistryError `invalid` with all faults */
export function checkOptions(options: unknown, types: OptionTypes): void {
  const faults = [...findOptionFaults(options, types)].map(([name, fault]) => [name, [fault]]);
  refuseFields(Object.fromEntries(faults));
}

/** @throws RegistryError `invalid` */
export function toId(name: string, given: unknown): number {
  const id = typeof given === 'number' || typeof given === 'string' ? parseId(String(given)) : undefined;
  if (id === undefined) throw invalidFields({ [name]: ['Expected an id: 1 to 12 digits.'] });
  return id;
}

/** @throws RegistryError `invalid` */
export const toNationalId = (name: string, given: unknown): string =>
  toParsed(name, given, (text) => (isIdentityCard(text) ? text : IDENTITY_CARD_ERROR));

/** @throws RegistryError `invalid` for what is no text, or is refused by the parser */
export function toParsed<T>(name: string, given: unknown, parse: (text: string) => T | FieldError): T {
  const value = typeof given === 'string' ? parse(given) : NOT_A_STRING;
  if (value instanceof FieldError) throw invalidFields({ [name]: [value.message] });
  return value;
}

/**
 * The same functions, which refuse what they do not read: `undo(id, { isDryRun: true })` would undo. They
 * reject, but `all`, which gives no promise, throws.
 */
export function refusingExtraArguments<T extends object>(functions: T): T {
  const entries = Object.entries(functions).map(([name, each]) => {
    if (typeof each !== 'function') return [name, refusingExtraArguments(each)];
    return [
      name,
      (...given: unknown[]) => {
        const { length } = each;
        if (given.slice(length).every((value) => value === undefined)) return each(...given);
        const refusal = invalidFields({ arguments: [`Expected ${length} at most.`] });
        if (name === 'all') throw refusal;
        return Promise.reject(refusal);
      },
    ];
  });
  return Object.fromEntries(entries);
}
