/** The names of the holders of keys, for what names keys by their ids. */
import { nowSeconds } from '../../runtime/clock.ts';
import type { Storage } from '../../store/contract/storage.ts';
import type { CliContext } from '../terminal/context.ts';
import { withStore } from '../terminal/with-store.ts';
import type { KeyNames } from './reading-text.ts';

export async function readKeyNames({ clock }: CliContext, storage: Storage): Promise<KeyNames> {
  if (!storage.hasKeys()) return new Map();
  const keys = await withStore(storage.openKeys('manage'), (store) => store.list(nowSeconds(clock)));
  return new Map(keys.map(({ id, name }) => [id, name]));
}
