/** The oldest events are removed, a few with each one that is appended. */
import { EVENT_RETENTION_DAYS } from '../../../domain/events.ts';

const RETENTION_SECONDS = EVENT_RETENTION_DAYS * 24 * 60 * 60;

/** Events up to this instant are too old, in epoch seconds. */
export const expiryOf = (nowSeconds: number): number => nowSeconds - RETENTION_SECONDS;

/** More than one, so that a file that got too long becomes shorter with each write. */
export const MOST_REMOVED_BY_WRITE = 4;
/** By an import or an undo, which may append any number. */
export const MOST_REMOVED_BY_SET = 100_000;

/**
 * Removes events from the beginning of the sequence up to the first that is not too old. The newest stays
 * however old it is: it says where the sequence has got to.
 * Parameters: how many to remove at most, plus 1; `expiryOf`.
 */
export const REMOVE_EXPIRED = `DELETE FROM main.events WHERE sequence < (
    SELECT coalesce(min(sequence) FILTER (WHERE at > @expiry), max(sequence))
    FROM (SELECT sequence, at FROM main.events ORDER BY sequence LIMIT @most + 1))`;

export const SELECT_OLDEST = 'SELECT at FROM events ORDER BY sequence LIMIT 1';
