/** Paths → screens. */
import type { Screen } from '../visit/screen.ts';

export interface Found {
  readonly screen: Screen;
  readonly places: { readonly [name: string]: string };
}

/** Shorter than a national ID, in digits: an address with one leads nowhere. */
const PLACE = '(?!\\d{13})[A-Za-z0-9-]{1,32}';

export function createRouter(screens: readonly Screen[]): (path: string) => Found | undefined {
  const known = screens.map((screen) => ({
    screen,
    pattern: new RegExp(`^${screen.path.replace(/:(\w+)/g, `(?<$1>${PLACE})`)}$`),
  }));
  return (path) => {
    for (const { screen, pattern } of known) {
      const match = pattern.exec(path);
      if (match !== null) return { screen, places: { ...match.groups } };
    }
    return undefined;
  };
}
