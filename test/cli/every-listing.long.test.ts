/** Every command that lists, with more rows than most registries have of most things. */
import { test } from 'node:test';
import { tryEveryListing } from '../support/command-listings.ts';

for (const rows of [1_001, 10_000])
  test(`every command that lists does so with ${rows} rows of everything`, (context) =>
    tryEveryListing(context, rows));
