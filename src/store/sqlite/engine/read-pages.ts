/** Rows of a long result, page by page: between two pages the connection is free for others. */

/** @param page the rows behind the last one that was read, in order, at most as many as the size */
export function* readPages<Row>(
  size: number,
  page: (last: Row | undefined) => readonly Row[],
): Generator<Row, void> {
  let last: Row | undefined;
  for (;;) {
    const rows = page(last);
    yield* rows;
    if (rows.length < size) return;
    last = rows.at(-1);
  }
}
