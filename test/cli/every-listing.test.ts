/** Every command that lists, with nothing to list, and with one row of everything. */
import { test } from 'node:test';
import { tryEveryListing } from '../support/command-listings.ts';

for (const rows of [0, 1])
  test(`every command that lists does so with ${rows} rows of everything`, (context) =>
    tryEveryListing(context, rows));
