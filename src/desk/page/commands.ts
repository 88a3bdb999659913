/** Commands as they are typed on this machine, and sentences that name them. */
import { quoted } from '../../app/wording/shell.ts';
import { SETTINGS } from '../../config.ts';
import { type Html, html } from '../../html/html.ts';

/** In a checkout by npm, as the documents have it. */
const PROGRAM = import.meta.url.endsWith('.ts') ? 'npm run -s registry --' : 'npx cooperative-registry';

/**
 * @param command with its arguments, without the program
 * @param storage the registry that it is about, where that has to be said
 */
export const typed = (command: string, storage: string = SETTINGS.REGISTRY_DB.default): string =>
  `${PROGRAM} ${command}${storage === SETTINGS.REGISTRY_DB.default ? '' : ` --db ${quoted(storage)}`}`;

/** A sentence with what stands in backticks as code: `registry …` becomes what is typed. */
export const withCommands = (sentence: string): Html =>
  html`${sentence
    .split('`')
    .map((part, i) =>
      i % 2 === 0
        ? part
        : html`<code>${part.replace(/^registry (.*)$/s, (_, command) => typed(command))}</code>`,
    )}`;
