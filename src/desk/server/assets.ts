/** The style sheet and modules of the pages, served as the files that they are. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../assets/', import.meta.url));

const TYPES: { readonly [extension: string]: string } = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface Asset {
  readonly type: string;
  readonly content: Buffer;
}

/** All of them by their paths, read once: there are few, and a name of a request never reaches the disk. */
export const readAssets = (): ReadonlyMap<string, Asset> =>
  new Map(
    readdirSync(FOLDER).flatMap((name) => {
      const type = TYPES[extname(name)];
      return type === undefined
        ? []
        : [[`/assets/${name}`, { type, content: readFileSync(join(FOLDER, name)) }] as const];
    }),
  );
