/** Every command that lists, with one more row of everything than a list shows, and with very many. */
import { test } from 'node:test';
import { tryEveryListing } from '../support/command-listings.ts';

for (const rows of [51, 1_001, 10_000])
  test(`every command that lists does so with ${rows} rows of everything`, (context) =>
    tryEveryListing(context, rows));
