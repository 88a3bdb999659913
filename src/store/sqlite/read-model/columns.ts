/**
 * The parts of a stored summary. Production is data, as it depends on the moment; loans and savings are kept as they will
 * be sent, behind the stamp of what has composed them.
 */

import type { ExactInteger } from '../../../domain/decimal.ts';
import { type BlockTexts, type JsonFragment, STAMP_LENGTH } from '../../../domain/lookup.ts';
import type { DatedProduction, ExpiringDelivery, ProductionSummary } from '../../../domain/production.ts';

/** A part that is to be computed: the triggers of its entries have set it. */
export const MARK = '';

/** The parts of a member's row: null when it has no such entries, MARK when they are to be computed. */
export interface StoredParts {
  readonly production: string | null;
  readonly loans: string | null;
  readonly savings: string | null;
}

type Exact = number | string;
type ProductionPart = [
  validFrom: number,
  validUntil: number | null,
  count: number,
  grams: Exact,
  lastAt: number | null,
];
// JSON holds integers above 2^53 only as text.
const packExact = (value: ExactInteger): Exact => (typeof value === 'bigint' ? String(value) : value);
const unpackExact = (value: Exact): ExactInteger => (typeof value === 'string' ? BigInt(value) : value);

/** A text with the stamp of what has composed it. */
export const packText = (text: JsonFragment, { stamp }: BlockTexts): string => stamp + text;

/** @returns undefined when it was composed by another release or in another time zone */
export const unpackText = (part: string, { stamp }: BlockTexts): JsonFragment | undefined =>
  part.startsWith(stamp) ? part.slice(STAMP_LENGTH) : undefined;

export interface StoredProduction extends ProductionSummary {
  readonly validFrom: number;
  readonly validUntil: number | null;
}

/** The summary and when it is right, without what leaves later. */
export function unpackProduction(text: string): StoredProduction {
  const part = JSON.parse(text.slice(0, text.indexOf(';'))) as ProductionPart;
  return {
    entriesCount: part[2],
    totalGrams: unpackExact(part[3]),
    lastDeliveryAt: part[4],
    validFrom: part[0],
    validUntil: part[1],
  };
}

/** What leaves after the summary's end. */
export function unpackExpiring(text: string): Pick<DatedProduction, 'expiring' | 'knownUntil'> {
  const [knownUntil, ...flat] = JSON.parse(text.slice(text.indexOf(';') + 1)) as [number | null, ...number[]];
  const expiring: ExpiringDelivery[] = [];
  let expiresAt = 0;
  for (let i = 0; i < flat.length; i += 2) {
    expiresAt += flat[i] as number;
    expiring.push({ expiresAt, grams: flat[i + 1] as number });
  }
  return { expiring, knownUntil };
}

export function packProduction(dated: DatedProduction): string {
  const part: ProductionPart = [
    dated.validFrom,
    dated.validUntil,
    dated.entriesCount,
    packExact(dated.totalGrams),
    dated.lastDeliveryAt,
  ];
  // Each time as the seconds since the one before: most are shorter so.
  const flat = dated.expiring.flatMap(({ expiresAt, grams }, i) => [
    expiresAt - (dated.expiring[i - 1]?.expiresAt ?? 0),
    grams,
  ]);
  return `${JSON.stringify(part)};${JSON.stringify([dated.knownUntil, ...flat])}`;
}
