/** Ids of rows: the decimal text of an integer key, never as long as a national ID (docs/api.md#routes). */

export const ID = /^[0-9]{1,12}$/;

export const parseId = (text: string): number | undefined => (ID.test(text) ? Number(text) : undefined);
