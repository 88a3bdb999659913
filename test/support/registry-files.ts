/** What is in the files of a registry, byte by byte. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Files of the registry in a folder that have one of the texts, as `registry.db: TEXT`. */
export const filesWith = (folder: string, texts: readonly string[]): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => relative(folder, join(file.parentPath, file.name)))
    .filter((name) => name.startsWith('registry'))
    .flatMap((name) => {
      const content = readFileSync(join(folder, name));
      return texts.filter((text) => content.includes(text)).map((text) => `${name}: ${text}`);
    });
