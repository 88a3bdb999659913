/** The folder that a backup goes into: asked about where it is missing, and what is said of its disk. */
import { say } from '../../domain/values/message.ts';
import type { Storage } from '../../store/contract/storage.ts';
import { asksYes } from '../terminal/confirm.ts';
import { type CliContext, CommandError, EXIT, tell } from '../terminal/context.ts';

/**
 * A folder may be missing because its disk is not mounted: a backup in a new one would be on another disk.
 * @param folder that of all backups, or the one around a single backup
 * @param yes whether it is to be created
 * @throws CommandError with status 2 unless it is there or somebody wants it to be created
 */
export async function requireFolder(
  context: CliContext & { readonly storage: Storage },
  folder: string,
  yes: boolean,
): Promise<void> {
  if (yes || context.storage.backupPlaceOf(folder) !== 'missing') return;
  const question = say('There is no folder {folder}. Is its disk mounted? Create the folder? [y/N]', {
    folder,
  });
  if (context.ask !== undefined && (await asksYes(context, question, new AbortController().signal))) return;
  throw new CommandError(
    EXIT.usage,
    say('There is no folder {folder}. Mount its disk, or create it first; --yes creates it.', { folder }),
  );
}

/** Says so where one disk that fails takes the registry and the backup. */
export function tellPlace(context: CliContext & { readonly storage: Storage }, folder: string): void {
  const place = context.storage.backupPlaceOf(folder);
  if (place === 'beside')
    tell(context, say('This backup is in the folder of the registry: keep another one elsewhere.'));
  if (place === 'same_disk')
    tell(context, say('This backup is on the disk of the registry: copy it to another one.'));
}
