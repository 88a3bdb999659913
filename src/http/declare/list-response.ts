/** Lists: page parameters, envelope and links (docs/api.md#lists). */

import type { Subject } from '../../access/access-ledger.ts';
import type { TimeZone } from '../../values/date-time.ts';
import {
  type Awaitable,
  DEFAULT_PAGE_SIZE,
  lastPage,
  MAX_PAGE_SIZE,
  type Page,
  type PageRequest,
  whenReady,
} from '../../values/errors.ts';
import { array, integer, nullable, object, type Schema, string } from '../../values/schema.ts';
import { quoteOrNull, type Serialize, serializeArray } from '../../values/serializer.ts';
import { type QueryParameter, wholeNumber } from './query.ts';
import { type ApiResponse, invalidPage, JsonText, ok } from './response.ts';
import type { ApiRequest, SuccessResponse } from './route.ts';

/** Page number. Not a number becomes NaN: a 404, but only after all parameters are checked. */
const page: QueryParameter<number> = {
  description: 'Number of the page, from 1.',
  schema: integer({ minimum: 1, default: 1 }),
  parse: (value) => (/^[0-9]+$/.test(value) ? Number(value) : Number.NaN),
};

const pageSize = wholeNumber(`Rows of a page; more than ${MAX_PAGE_SIZE} are clipped to that.`, {
  minimum: 1,
  maximum: MAX_PAGE_SIZE,
  default: DEFAULT_PAGE_SIZE,
});

export const PAGE_PARAMETERS = { page, page_size: pageSize };

/** @throws HttpError 404 for a page that is not a number from 1 */
function toPageRequest(query: { page?: number | undefined; page_size?: number | undefined }): PageRequest {
  const number = query.page ?? 1;
  if (!Number.isSafeInteger(number) || number < 1) throw invalidPage();
  return { page: number, pageSize: query.page_size ?? DEFAULT_PAGE_SIZE };
}

interface ListRequest extends Pick<ApiRequest, 'search' | 'baseUrl' | 'path'> {
  readonly query: Parameters<typeof toPageRequest>[0];
}

/**
 * Responds to a list request with the page that it asks for.
 * @param list reads a page
 * @param serialize returns the JSON text of a row
 * @param subjectOf returns the data subjects of the rows; undefined where rows show no person
 * @throws HttpError 404 for a page that is not a number from 1, or is past the last
 */
export function respondWithPage<T>(
  request: ListRequest,
  list: (asked: PageRequest) => Awaitable<Page<T>>,
  serialize: Serialize<T>,
  zone: TimeZone,
  subjectOf?: ((rows: readonly T[]) => Subject) | undefined,
): Awaitable<ApiResponse> {
  const asked = toPageRequest(request.query);
  return whenReady(list(asked), (found) => ({
    ...envelope(request, asked, found, serialize, zone),
    subject: subjectOf?.(found.rows),
  }));
}

/** @throws HttpError 404 for a page past the last */
function envelope<T>(
  request: ListRequest,
  pageRequest: PageRequest,
  found: Page<T>,
  serialize: Serialize<T>,
  zone: TimeZone,
): ApiResponse {
  const last = lastPage(found.count, pageRequest.pageSize);
  if (pageRequest.page > last) throw invalidPage();
  const next = pageRequest.page < last ? linkTo(request, pageRequest.page + 1) : null;
  const previous = pageRequest.page > 1 ? linkTo(request, pageRequest.page - 1) : null;
  const results = serializeArray(found.rows, serialize, zone);
  return ok(
    new JsonText(
      `{"count":${found.count},"next":${quoteOrNull(next)},"previous":${quoteOrNull(previous)},` +
        `"results":${results}}`,
    ),
  );
}

/**
 * Links to another page of a request, with sorted keys; page 1 has no `page`, as in Django REST framework.
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
 * Declares the response of a list.
 * @param path path of the list, for the links of the example
 * @param row schema of a row, with a title
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
