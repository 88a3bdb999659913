/** What the statements of an import ask JavaScript for. */
import { createHash } from 'node:crypto';
import { mayEcho } from '../../../domain/errors.ts';
import { haveCommonWord } from '../../../domain/members.ts';
import type { Connection } from '../connection/connection.ts';

/** Enough of a SHA-256 that no two entries of a country share it by chance. */
const HASH_CHARACTERS = 20;

/**
 * Adds `shown_code(code)`, how a message names a code of the file, `have_common_word(name, name)`, and
 * `derived_reference(value, …)`, the reference of an entry that has none: the same for the same values
 * (docs/operating.md#entries-without-a-reference).
 */
export function addSqlFunctions({ raw }: Connection): void {
  raw.function('shown_code', { deterministic: true }, (code) =>
    typeof code === 'string' && mayEcho(code) ? `the code "${code}"` : 'this code',
  );
  raw.function('have_common_word', { deterministic: true }, (one, other) =>
    typeof one === 'string' && typeof other === 'string' && haveCommonWord(one, other) ? 1 : 0,
  );
  raw.function('derived_reference', { deterministic: true, varargs: true }, (...values: unknown[]) => {
    const hash = createHash('sha256').update(JSON.stringify(values)).digest('hex');
    return `auto-${hash.slice(0, HASH_CHARACTERS)}`;
  });
}
