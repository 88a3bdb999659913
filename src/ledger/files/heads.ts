/**
 * `heads.ndjson` of a chain: a signed line for each segment that was closed, and one for each that retention
 * has removed. They stay when the segment goes.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type WritingFunctions, writeFully } from './durable.ts';
import { headsFileOf } from './paths.ts';
import { signText } from './signatures.ts';

/** What is said of a segment when it is closed. */
export interface Head {
  readonly chain: number;
  readonly segment: number;
  /** Sequences of the first and the last entry. */
  readonly first: number;
  readonly last: number;
  /** Earliest and latest instant of an entry, in UTC. */
  readonly first_time: string;
  readonly last_time: string;
  /** Of the last batch. */
  readonly hash: string;
}

/** That retention has removed a segment. */
export interface Removal {
  readonly chain: number;
  readonly segment: number;
  readonly removed: string;
}

export interface SignedLine {
  /** Undefined for a line that cannot be read. */
  readonly value: Head | Removal | undefined;
  readonly signed: string;
  readonly signature: string;
}

const LINE = /^(\{.*)(?:,"signature":"([A-Za-z0-9+/=]+)"\})$/;

/** The lines of a chain; one that was not written to its end is left out. */
export function readHeads(folder: string): SignedLine[] {
  const file = headsFileOf(folder);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [, signed = '', signature = ''] = LINE.exec(line) ?? [];
      return { value: parseValue(`${signed}}`), signed: `${signed}}`, signature };
    });
}

function parseValue(text: string): Head | Removal | undefined {
  try {
    return JSON.parse(text) as Head | Removal;
  } catch {
    return undefined;
  }
}

export interface KnownHeads {
  /** Of closed segments, in their order. */
  readonly heads: readonly Head[];
  /** Numbers of segments that retention has removed. */
  readonly removed: ReadonlySet<number>;
}

/** What the lines say; whether they are signed is for `verify` to say. */
export function knownHeads(lines: readonly SignedLine[]): KnownHeads {
  const values = lines.map(({ value }) => value).filter((value) => value !== undefined);
  return {
    heads: values.filter((value): value is Head => 'hash' in value),
    removed: new Set(values.filter((value) => 'removed' in value).map(({ segment }) => segment)),
  };
}

/** It is unknown whether a head is on disk: what follows it must be decided by reading it again. */
export class HeadInDoubt extends Error {}

/**
 * Adds a signed line, on disk when this returns. What an earlier attempt has left incomplete is overwritten.
 * @param folder of the chain
 * @throws the system's error, and nothing was added; HeadInDoubt
 */
export function appendHead(functions: WritingFunctions, folder: string, value: Head | Removal): void {
  const file = headsFileOf(folder);
  const text = JSON.stringify(value);
  const line = `${text.slice(0, -1)},"signature":"${signText(dirname(folder), text)}"}\n`;
  const complete = readFileSync(file).lastIndexOf('\n') + 1;
  const handle = functions.openSync(file, 'r+');
  try {
    functions.ftruncateSync(handle, complete);
    // Its last byte makes it a line: an error of writing leaves none.
    writeFully(functions, handle, Buffer.from(line), complete);
    try {
      functions.fsyncSync(handle);
    } catch (error) {
      throw new HeadInDoubt('heads.ndjson could not be synced', { cause: error });
    }
  } finally {
    functions.closeSync(handle);
  }
}
