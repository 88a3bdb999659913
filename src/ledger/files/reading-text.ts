/**
 * Readings on their way to the thread that writes them: one text for all of an iteration, because a text
 * passes between threads at the least cost.
 */
import type { FieldGroup, Reading } from '../../store/ports/access-ledger.ts';

/** Between readings, between their values, and between the values of a list. */
const READINGS = '\x1e';
const VALUES = '\x1f';
const ITEMS = '\x1d';
const CONTROL = /[\x00-\x1f\x7f]/;
const CONTROLS = /[\x00-\x1f\x7f]/g;

/** Callers refuse control characters: here one would end the value, and another reader could be recorded. */
const plain = (text: string): string => (CONTROL.test(text) ? text.replace(CONTROLS, ' ') : text);

export function encodeReadings(readings: readonly Reading[]): string {
  let text = '';
  for (const { reader, subject, ...reading } of readings) {
    if (text !== '') text += READINGS;
    const { all, identityCards, memberIds } = subject;
    text +=
      `${reading.timeMs}${VALUES}${plain(reading.requestId)}${VALUES}` +
      `${'keyId' in reader ? `k${reader.keyId}` : `u${plain(reader.user)}`}${VALUES}` +
      `${reading.route}${VALUES}${reading.fields.join(ITEMS)}${VALUES}${reading.status}${VALUES}` +
      `${reading.address ?? ''}${VALUES}${plain(reading.purpose ?? '')}${VALUES}` +
      `${plain(reading.endUser ?? '')}${VALUES}${identityCards?.map(plain).join(ITEMS) ?? ''}${VALUES}` +
      `${memberIds?.join(ITEMS) ?? ''}${VALUES}` +
      `${all === undefined ? '' : `${all.asOfSequence}:${all.cooperativeIds?.join(ITEMS) ?? '*'}`}`;
  }
  return text;
}

/** What of a reading is written; what is not there was not given, or does not apply. */
export interface StoredReading {
  /** In UTC, with milliseconds. */
  readonly time: string;
  readonly request_id: string;
  readonly key_id?: number;
  readonly user?: string;
  readonly route: string;
  readonly fields: readonly FieldGroup[];
  readonly status: number;
  readonly address?: string;
  readonly purpose?: string;
  readonly end_user?: string;
  /** Hashes of national IDs, with the key of the segment. */
  readonly persons?: readonly string[];
  readonly members?: readonly number[];
  readonly all?: { readonly as_of: number; readonly cooperatives: readonly number[] | null };
}

export interface DecodedReading {
  readonly timeMs: number;
  /** @param hashPerson of a national ID */
  toStored(hashPerson: (identityCard: string) => string): StoredReading;
}

export const decodeReadings = (text: string): DecodedReading[] => text.split(READINGS).map(decode);

function decode(text: string): DecodedReading {
  const [time, requestId = '', reader = '', route = '', fields = '', status, ...more] = text.split(VALUES);
  const [address = '', purpose = '', endUser = '', persons = '', members = '', all = ''] = more;
  const timeMs = Number(time);
  return {
    timeMs,
    toStored: (hashPerson) => ({
      time: new Date(timeMs).toISOString(),
      request_id: requestId,
      ...(reader.startsWith('k') ? { key_id: Number(reader.slice(1)) } : { user: reader.slice(1) }),
      route,
      fields: items(fields) as FieldGroup[],
      status: Number(status),
      ...(address === '' ? {} : { address }),
      ...(purpose === '' ? {} : { purpose }),
      ...(endUser === '' ? {} : { end_user: endUser }),
      ...(persons === '' ? {} : { persons: items(persons).map(hashPerson) }),
      ...(members === '' ? {} : { members: items(members).map(Number) }),
      ...(all === '' ? {} : { all: decodeAll(all) }),
    }),
  };
}

const items = (text: string): string[] => (text === '' ? [] : text.split(ITEMS));

function decodeAll(text: string): NonNullable<StoredReading['all']> {
  const [sequence, cooperatives = ''] = text.split(':');
  return {
    as_of: Number(sequence),
    cooperatives: cooperatives === '*' ? null : items(cooperatives).map(Number),
  };
}
