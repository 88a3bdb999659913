/** Signs that two members who are to be merged are two people. */
import { haveCommonWord } from '../../../domain/membership/names.ts';
import { asMessage, type Message, say } from '../../../domain/values/message.ts';
import type { Connection } from '../engine/connection.ts';
import type { MemberPair } from './merge.ts';

interface Described {
  readonly full_name: string;
  readonly gender: string | null;
  readonly date_of_birth: string | null;
}

const describe = (db: Connection, id: number): Described =>
  db.row<Described>('SELECT full_name, gender, date_of_birth FROM main.members WHERE id = ?', [
    id,
  ]) as Described;

const differ = (one: string | null, other: string | null): boolean =>
  one !== null && other !== null && one !== other;

const noteOf = ({ from, into }: MemberPair, what: string): Message =>
  say('Members {from} and {into} have {what}. Same person?', { from, into, what: asMessage(what) });

/** @returns notes without the values */
export function noteNames(db: Connection, pair: MemberPair): Message[] {
  const [from, into] = [describe(db, pair.from), describe(db, pair.into)];
  return haveCommonWord(from.full_name, into.full_name) ? [] : [noteOf(pair, 'names without a common word')];
}

/** @returns notes without the values; an unknown value differs from nothing */
export function noteBirthAndGender(db: Connection, pair: MemberPair): Message[] {
  const [from, into] = [describe(db, pair.from), describe(db, pair.into)];
  return [
    ...(differ(from.date_of_birth, into.date_of_birth) ? [noteOf(pair, 'different dates of birth')] : []),
    ...(differ(from.gender, into.gender) ? [noteOf(pair, 'different genders')] : []),
  ];
}
