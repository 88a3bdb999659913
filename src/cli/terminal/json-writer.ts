/** Writes a JSON document in pieces, as its reader takes them: none of its lists is kept in memory. */
import type { Awaitable } from '../../domain/values/awaitable.ts';

/** A write for each item would cost more than the item. */
const WRITE_CHARACTERS = 64 * 1024;

export interface JsonWriter {
  /** Appends a piece of the document as it is. @returns a promise while the reader is behind */
  write(text: string): Awaitable<void>;
  /**
   * Appends a list, and completes it when an item cannot be read.
   * @param indent of its items
   * @throws what the items throw
   */
  list(items: Items, indent: string): Promise<void>;
  flush(): Awaitable<void>;
}

/** Each item is its JSON, or an object whose last member is a list of numbers. */
export type Items = Iterable<Item> | AsyncIterable<Item>;
export type Item =
  | string
  | { readonly start: string; readonly numbers: Iterable<number> | AsyncIterable<number> };

export function createJsonWriter(out: (text: string) => Awaitable<void>): JsonWriter {
  let pending = '';

  function flush(): Awaitable<void> {
    const text = pending;
    pending = '';
    return out(text);
  }

  function write(text: string): Awaitable<void> {
    pending += text;
    return pending.length > WRITE_CHARACTERS ? flush() : undefined;
  }

  async function writeItem(item: Item): Promise<void> {
    if (typeof item === 'string') {
      await write(item);
      return;
    }
    write(`${item.start}[`);
    let isFirst = true;
    try {
      for await (const number of item.numbers) {
        await write(`${isFirst ? '' : ','}${number}`);
        isFirst = false;
      }
    } finally {
      write(']}');
    }
  }

  return {
    write,
    flush,
    async list(items, indent) {
      write('[');
      let isEmpty = true;
      try {
        for await (const item of items) {
          await write(`${isEmpty ? '' : ','}\n${indent}`);
          isEmpty = false;
          await writeItem(item);
        }
      } finally {
        write(isEmpty ? ']' : `\n${indent.slice(2)}]`);
      }
    },
  };
}

/** An object whose last member is a list of numbers that are read while they are written. */
export const withNumbers = (
  values: { readonly [name: string]: unknown },
  name: string,
  numbers: Iterable<number> | AsyncIterable<number>,
): Item => ({ start: `${JSON.stringify(values).slice(0, -1)},"${name}":`, numbers });
