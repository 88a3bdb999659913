/** What a command reads of the access ledger: what keeps it from being read is said in a sentence. */
import { say } from '../../domain/values/message.ts';
import { systemCodeOf } from '../../runtime/system-code.ts';
import { CommandError, EXIT } from '../terminal/context.ts';

/** @throws CommandError with status 1 when the system refuses to let the ledger be read */
export async function fromLedger<T>(
  { ledgerFolder }: { readonly ledgerFolder: string },
  read: (folder: string) => T | Promise<T>,
): Promise<T> {
  try {
    return await read(ledgerFolder);
  } catch (error) {
    const reason = systemCodeOf(error);
    if (reason === undefined) throw error;
    const values = { folder: ledgerFolder, reason };
    throw new CommandError(
      EXIT.refused,
      say('The access ledger in {folder} cannot be read ({reason}).', values),
    );
  }
}
