/**
 * Formats numbers, amounts and dates for a language. Intl gets decimals as texts, so that no digits are lost.
 */

import { formatBytes } from '../terminal/output.ts';
import { formatDate, formatDateTime, type TimeZone } from '../values/date-time.ts';
import { type ExactInteger, formatDecimal } from '../values/decimal.ts';
import type { Language } from '../values/language.ts';
import type { Written } from '../values/message.ts';

export interface Writing {
  number(value: number | bigint): string;
  /** @param minor hundredths of a Rwandan franc */
  money(minor: ExactInteger): string;
  /** Returns kilograms. */
  weight(grams: ExactInteger): string;
  bytes(value: number): string;
  day(epochSeconds: number): string;
  /** Returns only the day if the time is midnight. */
  moment(epochSeconds: number): string;
  /** @param text `YYYY-MM-DD` */
  date(text: string): string;
  /** Returns a short name. @param text `YYYY-MM` */
  month(text: string): string;
  written(value: Written | number): string;
}

/** Writings by language and zone, because it is slow to create formatters. */
const cache = new Map<string, Writing>();

export function writingIn(language: Language, zone: TimeZone): Writing {
  const name = `${language} ${zone.suffix}`;
  const writing = cache.get(name) ?? newWriting(language, zone);
  cache.set(name, writing);
  return writing;
}

function newWriting(language: Language, zone: TimeZone): Writing {
  // Day before month, as is customary in Rwanda.
  const locale = language === 'en' ? 'en-GB' : language;
  const count = new Intl.NumberFormat(locale);
  const amounts = (digits: number) =>
    new Intl.NumberFormat(locale, {
      style: 'currency',
      currency: 'RWF',
      currencyDisplay: 'code',
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
  // Centimes are rare, and only shown if they are not zero.
  const [francs, centimes] = [amounts(0), amounts(2)];
  const kilograms = new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: 'kilogram',
    maximumFractionDigits: 3,
  });
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
  const months = new Intl.DateTimeFormat(locale, { month: 'short', timeZone: 'UTC' });
  const date = (text: string) => dates.format(new Date(`${text}T00:00:00Z`));
  const day = (epochSeconds: number) => date(formatDate(epochSeconds, zone));
  const moment = (epochSeconds: number) => {
    const time = formatDateTime(epochSeconds, zone).slice(11, 19);
    // A value that was entered without a time is stored as midnight.
    return time === '00:00:00' ? day(epochSeconds) : `${day(epochSeconds)}, ${time.slice(0, 5)}`;
  };
  return {
    number: (value) => count.format(value),
    money: (minor) => {
      const text = formatDecimal(minor, 2) as Intl.StringNumericLiteral;
      return (text.endsWith('.00') ? francs : centimes).format(text);
    },
    weight: (grams) => kilograms.format(formatDecimal(grams, 3) as Intl.StringNumericLiteral),
    bytes: (value) => {
      const [digits, unit = ''] = formatBytes(value).split(' ');
      // In French, a byte is an "octet".
      return `${count.format(Number(digits))} ${language === 'fr' ? unit.replace('B', 'o') : unit}`;
    },
    day,
    moment,
    date,
    month: (text) => months.format(new Date(`${text}-01T00:00:00Z`)),
    written(value) {
      if (typeof value === 'number') return count.format(value);
      const { as, text } = value;
      if (as === 'amount') return count.format(text as Intl.StringNumericLiteral);
      return as === 'day' ? date(text) : moment(Date.parse(text) / 1000);
    },
  };
}
