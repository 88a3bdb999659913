/** Spaces that separate groups of digits, the no-break ones of spreadsheets included. */
export const SPACES = /\s/g;
