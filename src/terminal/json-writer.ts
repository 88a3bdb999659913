/** Writes a JSON document in pieces, at the speed of the reader. Long lists need not fit into memory. */
import type { Awaitable } from '../values/errors.ts';

/** Number of characters to collect before a write. A write for each item would be slow. */
const WRITE_CHARACTERS = 64 * 1024;

type Items = Iterable<unknown> | AsyncIterable<unknown>;

const isList = (value: unknown): value is Items =>
  typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);

export function createJsonWriter(out: (text: string) => Awaitable<void>) {
  let pending = '';

  function flush(): Awaitable<void> {
    const text = pending;
    pending = '';
    return out(text);
  }

  /** Appends JSON text. @returns a promise if the reader is slower than the writer */
  function write(text: string): Awaitable<void> {
    pending += text;
    return pending.length > WRITE_CHARACTERS ? flush() : undefined;
  }

  /**
   * Appends a list. Items and inner lists are iterated while they are written. If an item throws, the JSON is
   * still completed.
   * @param indent indent of the items; by default, all items are on one line
   * @throws errors of the items
   */
  async function list(items: Items, indent?: string): Promise<void> {
    let start = '[';
    const writeItem = (item: unknown): Awaitable<void> => {
      const before = indent === undefined ? start : `${start}\n${indent}`;
      start = ',';
      const hasLists = typeof item === 'object' && item !== null && Object.values(item).some(isList);
      if (!hasLists) return write(before + JSON.stringify(item));
      write(before);
      return members(item);
    };
    try {
      // A list may have millions of items, so the loop waits only if the reader is slower.
      if (Symbol.iterator in items)
        for (const item of items) {
          const waiting = writeItem(item);
          if (waiting !== undefined) await waiting;
        }
      else for await (const item of items) await writeItem(item);
    } finally {
      const isEmpty = start === '[';
      write(isEmpty ? '[]' : indent === undefined ? ']' : `\n${indent.slice(2)}]`);
    }
  }

  async function members(item: object): Promise<void> {
    let start = '{';
    try {
      for (const [name, value] of Object.entries(item)) {
        write(`${start}${JSON.stringify(name)}:`);
        start = ',';
        await (isList(value) ? list(value) : write(JSON.stringify(value)));
      }
    } finally {
      write('}');
    }
  }

  return { write, list, flush };
}
