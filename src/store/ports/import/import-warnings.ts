/** What may be wrong with a file that has no faults. */
import type { Text } from '../../../domain/values/message.ts';

/** Each kind of warning (docs/import-reference.md#warnings). */
export const WARNINGS = {
  ended_status: stopping(
    ['cooperatives', 'members'],
    'a status that has ended (deceased, withdrawn, dissolved) would become another one',
  ),
  many_changes: stopping(
    ['members'],
    'more than a tenth and more than five of the members of a cooperative would change name, NID or ' +
      'status',
  ),
  other_cooperative: stopping(
    ['members', 'production', 'loans', 'payments', 'savings'],
    'the code is probably wrong. Of members: nine tenths or more of the members listed for a cooperative, ' +
      'at least three, would be new to it or get another name or code, and are listed in one and the same ' +
      'other cooperative, which most of them have not left, while less than a tenth belong to this one ' +
      'under their name and code. Of ledgers: see [below](#ledgers-of-another-cooperative)',
  ),
  moved: stopping(
    ['members'],
    'a member who would be new to the cooperative was moved from it to another one, or merged with a ' +
      'member of another one, by a correction',
  ),
  name_differs: stopping(
    ['members'],
    'another cooperative has a member with this NID under a name without a common word, and with another ' +
      'year of birth',
  ),
  near_duplicate: stopping(
    ['members'],
    'two members would have equal phone and name, whatever its case, accents and order of words, and NIDs ' +
      'that differ in one digit; in two cooperatives, unless their dates of birth differ',
  ),
  changed_id: stopping(
    ['members'],
    'a member code belongs to a member with another NID: a changed number, which replaces the stored one. ' +
      'If the file has both numbers, or the new one is that of another member, it is a fault',
  ),
  newer_version: stopping(
    ['production', 'savings'],
    'a new entry without a reference has the member, day and product (of savings the account, kind and ' +
      'day) of a stored one that the file does not have: [a newer version](#a-newer-version-of-a-file)?',
  ),
  already_stored: stopping(
    ['production', 'loans', 'payments', 'savings'],
    'the same file was imported before, in the same way, and more rows than were refused then would be new ' +
      'entries. Or nine tenths of the rows for a cooperative, with at least three different amounts, would ' +
      'be new entries with the member (of payments the loan), day and amount of stored ones: the ledger ' +
      'came before, with other references or columns. Of loans, only where the file has their start',
  ),
  removed: stopping(
    ['production', 'loans', 'payments', 'savings'],
    'rows of the import that the file replaces would be removed',
  ),
  impossible_id: only(['members'], 'a NID begins with neither 1, 2 nor 3, such as one of zeros'),
  contradicted_id: only(
    ['members'],
    'the digits of a NID for the year of birth (2 to 5) or the sex (6: 8 male, 7 female) say something ' +
      'else than `date_of_birth` or `gender`; the message names the first members',
  ),
  born_after_registration: only(['members'], 'the date of birth is after the registration'),
  overpaid: only(['loans', 'payments'], 'more than three times the amount of a loan is paid'),
  after_death: only(['production', 'savings'], 'an entry is dated after the day on which the member died'),
  other_name: only(
    ['production', 'loans', 'payments', 'savings'],
    'the name beside a new or changed entry shares no word with that of the member',
  ),
  end_before_start: only(['loans'], 'the end is before the start'),
} as const satisfies { readonly [kind: string]: WarningMeaning };

export type WarningKind = keyof typeof WARNINGS;

type WarnedKind = 'cooperatives' | 'members' | 'production' | 'loans' | 'payments' | 'savings';

interface WarningMeaning {
  /** Whether an import goes on only after somebody has looked at it. */
  readonly stops: boolean;
  /** Kinds of files that it is about. */
  readonly files: readonly WarnedKind[];
  readonly meaning: string;
}

function stopping(files: readonly WarnedKind[], meaning: string): WarningMeaning {
  return { stops: true, files, meaning };
}

function only(files: readonly WarnedKind[], meaning: string): WarningMeaning {
  return { stops: false, files, meaning };
}

export interface ImportWarning {
  readonly kind: WarningKind;
  readonly stops: boolean;
  /** For the operator; it holds no personal data. */
  readonly message: Text;
  /** How many lines it is about. */
  readonly count: number;
  /** In their order. May be read until the apply. */
  lines(): AsyncIterable<number>;
}
