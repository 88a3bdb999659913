/** The name of a file may hold a national ID, which an erasure does not look for there. */
const SIXTEEN_DIGITS = '[0-9]'.repeat(16);

export const HIDDEN_NAMES = `
-- Since then, numbers are hidden before a name is stored.
UPDATE imported_files SET file_name = '(hidden)'
WHERE replace(replace(file_name, ' ', ''), char(160), '') GLOB '*${SIXTEEN_DIGITS}*';
`;
