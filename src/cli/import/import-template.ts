/** `import template`: a workbook for a cooperative to fill in (docs/importing.md#a-template). */
import type { Command } from 'commander';
import { say } from '../../domain/values/message.ts';
import { templateOf } from '../../export/template.ts';
import { IMPORT_KINDS } from '../../store/contract/import/import-session.ts';
import { writePrivately } from '../export/export-files.ts';
import { type CliContext, languageFor, translate } from '../terminal/context.ts';
import { parseKind } from '../terminal/options.ts';
import { assertPlace } from '../terminal/places.ts';
import { acting, type Run } from '../terminal/run.ts';
import type { PrintOptions } from '../terminal/settings.ts';

interface Options extends PrintOptions {
  readonly out?: string;
}

export function declareImportTemplate(command: Command, context: CliContext): void {
  command
    .argument('<kind>', `one of ${IMPORT_KINDS.join(', ')}`)
    .option('--out <file>', 'the new workbook; without it, template-<kind>.xlsx in this folder')
    .option('--json', 'one JSON document: the file')
    .action(
      acting(context, async (run: Run<Options>, given: string) => {
        const kind = parseKind(given);
        // An import of the folder takes what begins with the name of a kind.
        const { out = `template-${kind}.xlsx` } = run.options;
        await assertPlace(out, { storage: run.storage, instead: 'another --out' });
        const workbook = await templateOf(kind, languageFor(run));
        await writePrivately(out, [workbook]);
        run.show({ file: out }, `${translate(run, say('The template is in {file}.', { file: out }))}\n`);
      }),
    );
}
