/** `/import/template/…`: a workbook to fill in, as `import template` writes it. */
import { Readable } from 'node:stream';
import { say } from '../../../domain/values/message.ts';
import { templateOf } from '../../../export/template.ts';
import { WORKBOOK_TYPE } from '../../../export/workbook.ts';
import { IMPORT_KINDS } from '../../../store/contract/import/import-session.ts';
import type { Screen } from '../../visit/screen.ts';

export const TEMPLATE: Screen = {
  path: '/import/template/:kind',
  title: say('A workbook to fill in'),
  personal: 'none',
  async read({ places, language }) {
    const kind = IMPORT_KINDS.find((each) => each === places.kind);
    if (kind === undefined) return undefined;
    const parts = Readable.from([await templateOf(kind, language)]);
    return { fileName: `template-${kind}.xlsx`, type: WORKBOOK_TYPE, parts, shows: 'nobody' };
  },
};
