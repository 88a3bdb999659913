/** Query parameters: declared ones only, each at most once, every fault reported at once. */
import { DATE_TIME } from '../../domain/values/date-time.ts';
import type { Deprecation } from '../../domain/values/deprecation.ts';
import { FieldError, FieldErrorList, shownName } from '../../domain/values/errors.ts';
import { ID, parseId } from '../../domain/values/ids.ts';
import { anyOf, integer, type Schema, string } from '../../json/schema.ts';

export interface QueryParameter<T> {
  readonly description: string;
  readonly schema: Schema;
  readonly deprecated?: Deprecation;
  readonly parse: (value: string) => T | FieldError;
}

/**
 * A filter by the id of another resource. What cannot be an id, such as a code, is refused: it must not read
 * as a resource without rows. An id that nothing has gives an empty list.
 * @param message of what is not an id
 */
export const idFilter = (description: string, message: string): QueryParameter<number> => ({
  description,
  schema: string({ pattern: ID.source }),
  parse: (value) => parseId(value) ?? new FieldError(message),
});

const WHOLE_NUMBER = /^[0-9]+$/;

/** A number of which too large a value is clipped to the maximum. @param bounds both included */
export const wholeNumber = (
  description: string,
  bounds: { readonly minimum: number; readonly maximum: number; readonly default?: number },
): QueryParameter<number> => ({
  description,
  schema: integer({
    minimum: bounds.minimum,
    ...(bounds.default === undefined ? {} : { default: bounds.default }),
  }),
  parse(value) {
    if (!WHOLE_NUMBER.test(value)) return new FieldError('A valid integer is required.');
    if (Number(value) < bounds.minimum)
      return new FieldError(`Ensure this value is greater than or equal to ${bounds.minimum}.`);
    return Math.min(Number(value), bounds.maximum);
  },
});

/** A filter by a date or a date-time. */
export const momentFilter = (
  description: string,
  parse: QueryParameter<number>['parse'],
): QueryParameter<number> => ({
  description,
  schema: anyOf([string({ format: 'date' }), string({ pattern: DATE_TIME.source })]),
  parse,
});

export interface QueryParameters {
  readonly [name: string]: QueryParameter<unknown>;
}

export type ParsedQuery<Parameters extends QueryParameters> = {
  [Name in keyof Parameters]?: Parameters[Name] extends QueryParameter<infer T> ? T : never;
};

/**
 * A misspelt filter must never return everyone: unknown and repeated parameters are refused
 * (docs/api.md#lists).
 * @throws RegistryError `invalid`
 */
export function parseQuery<Parameters extends QueryParameters>(
  parameters: Parameters,
  query: URLSearchParams,
): ParsedQuery<Parameters> {
  if (query.size === 0) return {};
  const faults = new FieldErrorList();
  const values: { [name: string]: unknown } = {};
  for (const name of new Set(query.keys())) {
    const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    const shown = shownName(name);
    if (parameter === undefined) {
      faults.add(shown, 'Unknown parameter.');
      continue;
    }
    const given = query.getAll(name);
    const value =
      given.length > 1 ? new FieldError('Given more than once.') : parameter.parse(given[0] as string);
    if (value instanceof FieldError) faults.add(shown, value.message);
    else values[name] = value;
  }
  faults.throwIfAny();
  return values as ParsedQuery<Parameters>;
}
