/** The filter by words of a name (docs/api.md#search). */
import { parseSearch } from '../../domain/values/search-words.ts';
import { string } from '../../json/schema.ts';

export const SEARCH_FILTER = {
  description:
    'Only those with these words in the name, in any order: each, of at least 3 characters, is the ' +
    'beginning of one. Letter case, accents and apostrophes make no difference. At most 5 words, and ' +
    '10,000 rows.',
  schema: string({ maxLength: 200 }),
  parse: parseSearch,
};
