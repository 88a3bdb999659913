/** What is asked of an export. */
import type { Language } from '../language/language.ts';
import type { ExportFilter } from '../store/contract/exports.ts';
import type { ImportKind } from '../store/contract/import/import-session.ts';

export const TEXT_FORMATS = ['ndjson', 'csv'] as const;
export type TextFormat = (typeof TEXT_FORMATS)[number];
export const FILE_FORMATS = [...TEXT_FORMATS, 'xlsx'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

export interface ExportRequest {
  readonly kind: ImportKind;
  readonly format: TextFormat;
  readonly filter: ExportFilter;
  /** For people: the language of the headings and choices of a CSV file. */
  readonly labels?: Language | undefined;
}
