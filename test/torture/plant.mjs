/**
 * Loaded into a process before its program: changes modules as they are loaded, as PLANTED_FAULTS says. The
 * product has no switch for any of this.
 */
import { registerHooks } from 'node:module';

const faults = JSON.parse(process.env.PLANTED_FAULTS);

function plant(source, { file, old, planted }) {
  const parts = source.split(old);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times, not once: ${old}`);
  return parts.join(planted);
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const found = faults.filter(({ file }) => url.endsWith(`/${file}`));
    return found.length === 0 ? loaded : { ...loaded, source: found.reduce(plant, String(loaded.source)) };
  },
});
