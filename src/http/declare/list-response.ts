/** Responses of lists: page parameters, envelope and links (docs/api.md#lists). */

import type { Subject } from '../../access/access-ledger.ts';
import type { TimeZone } from '../../values/date-time.ts';
import { type Awaitable, lastPage, type Page, type PageRequest, whenReady } from '../../values/errors.ts';
import { array, integer, nullable, object, type Schema, string } from '../../values/schema.ts';
import { quoteOrNull, type Serialize, serializeArray } from '../../values/serializer.ts';
import { type QueryParameter, wholeNumber } from './query.ts';
import { type ApiResponse, invalidPage, JsonText, ok } from './response.ts';
import type { ApiRequest, SuccessResponse } from './route.ts';

const DEFAULT_PAGE_SIZE = 50;
/** Maximum of `page_size`. Larger values are reduced to the maximum (docs/api.md#lists). */
const MAX_PAGE_SIZE = 200;

/** Page number. A text other than digits becomes NaN, which gives 404 once all parameters are checked. */
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

type ListRequest = Pick<ApiRequest<typeof PAGE_PARAMETERS>, 'search' | 'baseUrl' | 'path' | 'query'>;

/**
 * @param subjectOf returns the data subjects of rows; undefined if rows show no person
 * @throws HttpError 404 if the page is not a number from 1, or is after the last page
 */
export function respondWithPage<T>(
  request: ListRequest,
  list: (page: PageRequest) => Awaitable<Page<T>>,
  serialize: Serialize<T>,
  zone: TimeZone,
  subjectOf?: ((rows: readonly T[]) => Subject) | undefined,
): Awaitable<ApiResponse> {
  const { page: number = 1, page_size: pageSize = DEFAULT_PAGE_SIZE } = request.query;
  if (!Number.isSafeInteger(number) || number < 1) throw invalidPage();
  return whenReady(list({ page: number, pageSize }), ({ count, rows }) => {
    const last = lastPage(count, pageSize);
    if (number > last) throw invalidPage();
    const next = number < last ? linkTo(request, number + 1) : null;
    const previous = number > 1 ? linkTo(request, number - 1) : null;
    const json =
      `{"count":${count},"next":${quoteOrNull(next)},"previous":${quoteOrNull(previous)},` +
      `"results":${serializeArray(rows, serialize, zone)}}`;
    return { ...ok(new JsonText(json)), subject: subjectOf?.(rows) };
  });
}

/**
 * Returns the address of another page, with sorted parameters. Page 1 has no `page` parameter, as in Django
 * REST framework.
 */
function linkTo(request: ListRequest, number: number): string {
  const query = new URLSearchParams(request.search);
  if (number === 1) query.delete('page');
  else query.set('page', String(number));
  query.sort();
  const search = query.toString();
  return `${request.baseUrl}${request.path}${search === '' ? '' : `?${search}`}`;
}

/**
 * @param rows plural noun for the rows
 * @param path path of the list, for the links in the example
 * @param row schema of a row; must have a title
 */
export function pageResponse(rows: string, path: string, row: Schema): SuccessResponse {
  const url = `https://registry.example.rw/api/v1${path}`;
  return {
    description: `One page of ${rows}.`,
    schema: object(
      {
        count: integer({ minimum: 0, description: 'All rows of the list, exact.', examples: [150] }),
        next: nullable(string({ format: 'uri', examples: [`${url}?page=3`] })),
        previous: nullable(string({ format: 'uri', examples: [url] })),
        results: array(row),
      },
      { title: `${row.title}Page` },
    ),
  };
}
