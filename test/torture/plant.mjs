/**
 * Loaded into a process before its program: changes one module as it is loaded, as PLANTED_FAULT says. The
 * product has no switch for any of this.
 */
import { registerHooks } from 'node:module';

const { file, old, planted } = JSON.parse(process.env.PLANTED_FAULT);

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(`/${file}`)) return loaded;
    const parts = String(loaded.source).split(old);
    if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times, not once: ${old}`);
    return { ...loaded, source: parts.join(planted) };
  },
});
