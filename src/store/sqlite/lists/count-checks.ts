/** The queries by which `check` compares a count index with the rows. */
import { BLOCK_SPANS, LARGE_BLOCK } from '../schema/block-sizes.ts';
import { ANY, type CountDeclaration } from './counted-tables.ts';

/** A query that recounts all rows and finds one count that differs. It scans the table, for `check` only. */
export interface CountCheck {
  readonly name: string;
  readonly sql: string;
}

/** WHERE of the rows that are counted; empty when all of them are. */
const isCountedSql = ({ dimension, excluded }: CountDeclaration): string =>
  excluded === undefined ? '' : `WHERE ${dimension} <> '${excluded}'`;

/** The checks of every declaration. The names tell those of one table apart. */
export const countChecksOf = (declarations: readonly CountDeclaration[]): CountCheck[] =>
  declarations.flatMap((declaration) => {
    const { table, dimension } = declaration;
    const ofTable = declarations.filter((other) => other.table === table);
    return checksOf(declaration, ofTable.length === 1 ? table : `${table} with each ${dimension}`);
  });

function checksOf(declaration: CountDeclaration, name: string): CountCheck[] {
  const { table, dimension, group, blockTable, groupTable, groupBlockTable, count } = declaration;
  const rows = `${table} ${isCountedSql(declaration)}`;
  const ofGroup = group.replace(/_id$/, '');
  const inBlocks = (span: number): CountCheck => ({
    name: `counters of ${name} by ${span} ids`,
    sql: difference(
      `SELECT ${dimension}, id / ${span} AS block, count(*) AS ${count} FROM ${rows} GROUP BY 1, 2
       UNION ALL SELECT '${ANY}', id / ${span}, count(*) FROM ${rows} GROUP BY 2`,
      `SELECT ${dimension}, block, ${count} FROM ${blockTable} WHERE span = ${span} AND ${count} <> 0`,
    ),
  });
  const inGroups = {
    name: `counters of ${name} by ${ofGroup}`,
    sql: difference(
      `SELECT ${group}, ${dimension}, count(*) AS ${count} FROM ${rows} GROUP BY 1, 2`,
      `SELECT ${group}, ${dimension}, ${count} FROM ${groupTable} WHERE ${count} <> 0`,
    ),
  };
  const inGroupBlocks = {
    name: `counters of ${name} by ${ofGroup} and ${LARGE_BLOCK} ids`,
    sql: difference(
      `SELECT ${group}, ${dimension}, id / ${LARGE_BLOCK} AS block, count(*) AS ${count} FROM ${rows}
       GROUP BY 1, 2, 3`,
      `SELECT ${group}, ${dimension}, block, ${count} FROM ${groupBlockTable} WHERE ${count} <> 0`,
    ),
  };
  return [inGroups, ...BLOCK_SPANS.toReversed().map(inBlocks), inGroupBlocks];
}

/** SELECT of one row that only one of two SELECTs gives. */
export const difference = (actual: string, kept: string): string =>
  `SELECT * FROM (SELECT * FROM (${actual}) EXCEPT SELECT * FROM (${kept}))
   UNION ALL SELECT * FROM (SELECT * FROM (${kept}) EXCEPT SELECT * FROM (${actual})) LIMIT 1`;
