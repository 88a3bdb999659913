/** Every command that lists, with nothing to list, one row of everything, and more than any of them shows. */
import { test } from 'node:test';
import { tryEveryListing } from '../support/command-listings.ts';

for (const rows of [0, 1, 51])
  test(`every command that lists does so with ${rows} rows of everything`, (context) =>
    tryEveryListing(context, rows));
