/** Declares and parses query parameters. */
import { DATE_TIME } from '../../values/date-time.ts';
import type { Deprecation } from '../../values/declared-fields.ts';
import { FieldError, FieldErrorList, ID, parseId, shownName } from '../../values/errors.ts';
import { anyOf, integer, type Schema, string } from '../../values/schema.ts';
import { parseSearch } from '../../values/search-words-and-typos.ts';

export interface QueryParameter<T> {
  readonly description: string;
  readonly schema: Schema;
  readonly deprecated?: Deprecation;
  readonly parse: (value: string) => T | FieldError;
}

export const DEFAULT_PAGE_SIZE = 50;
/** Larger values are reduced to the maximum (docs/api.md#lists). */
const MAX_PAGE_SIZE = 200;

/** @param message for a text that is not an id, such as a code; an unknown id gives an empty list */
export const idFilter = (description: string, message: string): QueryParameter<number> => ({
  description,
  schema: string({ pattern: ID.source }),
  parse: (value) => parseId(value) ?? new FieldError(message),
});

/** All rows with the ids must fit on one page. */
const MOST_IDS = MAX_PAGE_SIZE;

export const ID_FILTER: QueryParameter<readonly number[]> = {
  description:
    `Only the rows with these ids: 1 to ${MOST_IDS} different ids, separated by commas. ` +
    'Ids that do not exist are left out.',
  schema: string({ pattern: `${ID.source.slice(0, -1)}(,${ID.source.slice(1, -1)}){0,${MOST_IDS - 1}}$` }),
  parse(value) {
    const ids = value.split(',', MOST_IDS + 1).map(parseId);
    const isList = ids.length <= MOST_IDS && !ids.includes(undefined) && new Set(ids).size === ids.length;
    return isList
      ? (ids as number[])
      : new FieldError(`Expected 1 to ${MOST_IDS} different ids, separated by commas.`);
  },
};

const WHOLE_NUMBER = /^[0-9]+$/;

/** A value above the maximum is replaced by the maximum. @param bounds inclusive */
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

/** A text other than digits becomes NaN, which gives 404 once all parameters are checked. */
const page: QueryParameter<number> = {
  description: 'Number of the page, from 1.',
  schema: integer({ minimum: 1, default: 1 }),
  parse: (value) => (/^[0-9]+$/.test(value) ? Number(value) : Number.NaN),
};

const pageSize = wholeNumber(`Rows of a page; larger values are reduced to ${MAX_PAGE_SIZE}.`, {
  minimum: 1,
  maximum: MAX_PAGE_SIZE,
  default: DEFAULT_PAGE_SIZE,
});

export const PAGE_PARAMETERS = { page, page_size: pageSize };

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
 * Refuses unknown and repeated parameters: if a misspelt filter were ignored, a list would return all members
 * (docs/api.md#lists).
 * @throws RegistryError `invalid` with all faults
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
    if (parameter === undefined) {
      faults.add(shownName(name), 'Unknown parameter.');
      continue;
    }
    const [text = '', ...repeated] = query.getAll(name);
    const value = repeated.length > 0 ? new FieldError('Given more than once.') : parameter.parse(text);
    if (value instanceof FieldError) faults.add(shownName(name), value.message);
    else values[name] = value;
  }
  faults.throwIfAny();
  return values as ParsedQuery<Parameters>;
}

// Search by words of a name (docs/api.md#search)

export const SEARCH_FILTER = {
  description:
    'Only rows with these words in the name, in any order: each must be the beginning of a word of the ' +
    'name, at least 3 characters long. Letter case, accents and apostrophes make no difference. At most ' +
    '5 words, and 10,000 rows.',
  schema: string({ maxLength: 200 }),
  parse: parseSearch,
};
