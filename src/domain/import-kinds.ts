/** The kinds of files that can be imported. */

/** In the order in which one may refer to the other. */
export const IMPORT_KINDS = ['cooperatives', 'members', 'production', 'loans', 'savings'] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

export const isImportKind = (text: string): text is ImportKind =>
  (IMPORT_KINDS as readonly string[]).includes(text);
