/** Keeps the counts of a table when sets of its rows change, as count-index.ts does for single ones. */
import { BLOCK_SPANS, LARGE_BLOCK, SMALL_BLOCK } from '../schema/block-sizes.ts';
import { ANY, added, type CountDeclaration } from './counted-tables.ts';

/**
 * The statements that count what an import changes, set by set instead of row by row; they run in its
 * transaction.
 * @param changes a SELECT giving `id`, the group, the dimension and `delta` (1 or -1) for each value that a
 * row gains or loses
 * @param isNew whether the changes are new rows, which count under any value as well
 */
export function countChangesSql(declaration: CountDeclaration, changes: string, isNew: boolean): string[] {
  const { dimension, group, blockTable, groupTable, groupBlockTable, count } = declaration;
  const addBlocks = (span: number, value: string) =>
    `INSERT INTO main.${blockTable} (span, ${dimension}, block, ${count})
     SELECT ${span}, ${value}, block / ${span / SMALL_BLOCK}, sum(delta) FROM temp.changed_blocks WHERE true
     GROUP BY 2, 3 ${added(declaration)}`;
  const addGroups = (table: string, key: string) =>
    `INSERT INTO main.${table} (${key}, ${count})
     SELECT ${key}, sum(delta) FROM temp.changed_groups WHERE true GROUP BY ${key} ${added(declaration)}`;
  return [
    // The changes may be millions: they are read twice, and the rest are sums of these.
    `CREATE TEMP TABLE changed_groups AS
     SELECT ${group}, ${dimension}, id / ${LARGE_BLOCK} AS block, sum(delta) AS delta FROM (${changes})
     GROUP BY 1, 2, 3`,
    `CREATE TEMP TABLE changed_blocks AS
     SELECT ${dimension}, id / ${SMALL_BLOCK} AS block, sum(delta) AS delta FROM (${changes}) GROUP BY 1, 2`,
    addGroups(groupTable, `${group}, ${dimension}`),
    addGroups(groupBlockTable, `${group}, ${dimension}, block`),
    ...BLOCK_SPANS.flatMap((span) => [
      addBlocks(span, dimension),
      ...(isNew ? [addBlocks(span, `'${ANY}'`)] : []),
    ]),
    'DROP TABLE temp.changed_blocks',
    'DROP TABLE temp.changed_groups',
  ];
}
