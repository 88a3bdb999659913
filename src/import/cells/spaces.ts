/** Spaces that separate groups of digits, the no-break ones of spreadsheets included. */
export const SPACES = /[\s\u00a0\u202f]/g;
