/** Stores compiled code for the next start, because most of the start-up time is spent compiling. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Folder of compiled code, beside the installed packages. Only users who may change the program may write to
 * this folder. Node's default folder is among temporary files, and has weaker permissions. The path is
 * correct from `src/` and from `dist/`.
 */
export const COMPILED_CODE = fileURLToPath(
  new URL('../../node_modules/.cache/compiled-code', import.meta.url),
);

/** Caches the code that Node compiles from now on. Embedding programs make their own choice. */
export function cacheCompiledCode(): void {
  enableCompileCache(COMPILED_CODE);
}
