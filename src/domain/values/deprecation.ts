/** What a declaration says of something that clients should stop using (docs/api.md#versions). */
import { parseDate } from './date-time.ts';

export interface Deprecation {
  /** `YYYY-MM-DD`; from midnight in UTC on, like the sunset. */
  readonly since: string;
  /** `YYYY-MM-DD`, when it may end; at least six months after `since`. */
  readonly sunset: string;
  /** Absolute URL of the page that says what to use instead. */
  readonly link: string;
}

const NOTICE_MONTHS = 6;

/** @throws Error for a date or link that is none, and for a sunset within six months */
export function assertDeprecation(what: string, { since, sunset, link }: Deprecation): void {
  const wrong = (reason: string) => new Error(`The deprecation of ${what}: ${reason}`);
  for (const date of [since, sunset])
    if (typeof parseDate(date) !== 'string') throw wrong(`${date} is not a date such as 2027-01-31.`);
  if (!URL.canParse(link)) throw wrong(`${link} is not an absolute URL.`);
  const earliest = new Date(since);
  earliest.setUTCMonth(earliest.getUTCMonth() + NOTICE_MONTHS);
  if (new Date(sunset) < earliest)
    throw wrong(`its sunset ${sunset} is less than ${NOTICE_MONTHS} months after ${since}.`);
}
