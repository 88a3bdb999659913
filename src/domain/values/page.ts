/** One page of a list. */

export const DEFAULT_PAGE_SIZE = 50;
/** A larger `page_size` is clipped to this (docs/api.md#lists). */
export const MAX_PAGE_SIZE = 200;

export interface PageRequest {
  /** From 1. */
  readonly page: number;
  readonly pageSize: number;
}

export interface Page<T> {
  /** All rows of the list, exact. */
  readonly count: number;
  readonly rows: readonly T[];
}

/** Rows before the page. */
export const offsetOf = (request: PageRequest): number => (request.page - 1) * request.pageSize;

/** The number of the last page; the first page of an empty list exists. */
export const lastPage = (count: number, pageSize: number): number => Math.max(1, Math.ceil(count / pageSize));
