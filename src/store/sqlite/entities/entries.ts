/** Deliveries and savings transactions of one member in SQLite. */
import { isVisible, type Visible } from '../../../domain/access/visible.ts';
import {
  type DeliveryFilter,
  type Period,
  PRODUCTION_FIELDS,
  type ProductionEntry,
  SAVINGS_FIELDS,
  type SavingsTransaction,
} from '../../../domain/entries/entries.ts';
import { listFields } from '../../../domain/values/declared-fields.ts';
import { offsetOf, type Page, type PageRequest } from '../../../domain/values/page.ts';
import { isSameIgnoringCase } from '../../../domain/values/text.ts';
import type { EntryStore } from '../../contract/registry.ts';
import type { Connection } from '../engine/connection.ts';
import { selected } from '../rows/rows.ts';
import { type NewEntriesOptions, openNewEntries } from './new-entries.ts';

interface MemberPeriod {
  readonly memberId: number;
  readonly from: number;
  readonly to: number;
}
interface Place {
  readonly limit: number;
  readonly offset: number;
}
interface Products {
  /** JSON array of the products to list; null lists every delivery, also those without a product. */
  readonly products: string | null;
}

const ONE_MEMBER = 'the entries of one member';
const PAGE = 'LIMIT @limit OFFSET @offset';

const DELIVERIES = `production_entries d WHERE d.member_id = @memberId
  AND d.delivered_at BETWEEN @from AND @to
  AND (@products IS NULL OR d.product IN (SELECT value FROM json_each(@products)))`;
const DELIVERY_ORDER = 'ORDER BY d.delivered_at DESC, d.id DESC';

const TRANSACTIONS = `savings_accounts a CROSS JOIN savings_transactions t ON t.account_id = a.id
  WHERE a.member_id = @memberId AND t.transacted_at BETWEEN @from AND @to`;
const TRANSACTION_ORDER = 'ORDER BY t.transacted_at DESC, t.id DESC';

// The ids of a page come from the index; then its rows are read.
const DELIVERY_PAGE = `SELECT d.id, ${selected('d', listFields(PRODUCTION_FIELDS))}
  FROM (SELECT d.id FROM ${DELIVERIES} ${DELIVERY_ORDER} ${PAGE}) page
  CROSS JOIN production_entries d ON d.id = page.id ${DELIVERY_ORDER}`;
const TRANSACTION_PAGE = `SELECT t.id, a.account_number AS accountNumber,
    ${selected('t', listFields(SAVINGS_FIELDS))}
  FROM (SELECT t.id FROM ${TRANSACTIONS} ${TRANSACTION_ORDER} ${PAGE}) page
  CROSS JOIN savings_transactions t ON t.id = page.id
  CROSS JOIN savings_accounts a ON a.id = t.account_id ${TRANSACTION_ORDER}`;

/** @param rows those of which `page` selects one page */
function preparePages<Wanted extends object, Entry>(db: Connection, rows: string, page: string) {
  const select = db.prepare<[Wanted & Place], Entry>(page, ONE_MEMBER);
  const countAll = db.prepare<[Wanted], { count: number }>(
    `SELECT count(*) AS count FROM ${rows}`,
    ONE_MEMBER,
  );
  return (wanted: Wanted, request: PageRequest): Page<Entry> => {
    const { count } = countAll.get(wanted) as { count: number };
    return { count, rows: select.all({ ...wanted, limit: request.pageSize, offset: offsetOf(request) }) };
  };
}

const toBounds = (memberId: number, { from, to }: Period): MemberPeriod => ({
  memberId,
  from: from ?? Number.MIN_SAFE_INTEGER,
  to: to ?? Number.MAX_SAFE_INTEGER,
});

export function openEntries(db: Connection, options: NewEntriesOptions): (visible: Visible) => EntryStore {
  const { snapshot } = options;
  const writesOf = openNewEntries(db, options);
  const selectProducts = db.prepare<[MemberPeriod], { product: string }>(
    `SELECT DISTINCT product FROM production_entries
     WHERE member_id = @memberId AND delivered_at BETWEEN @from AND @to AND product IS NOT NULL`,
    ONE_MEMBER,
  );
  const selectCooperative = db.prepare<[number], { id: number }>(
    'SELECT cooperative_id AS id FROM members WHERE id = ?',
  );
  const deliveries = preparePages<MemberPeriod & Products, ProductionEntry>(db, DELIVERIES, DELIVERY_PAGE);
  const transactions = preparePages<MemberPeriod, SavingsTransaction>(db, TRANSACTIONS, TRANSACTION_PAGE);

  /** The stored spellings of a product: SQLite ignores the case of ASCII letters only. */
  function productsLike(period: MemberPeriod, { product }: DeliveryFilter): Products {
    if (product === undefined) return { products: null };
    const stored = selectProducts.all(period).map((row) => row.product);
    return { products: JSON.stringify(stored.filter((each) => isSameIgnoringCase(each, product))) };
  }

  /** Of a member that is not seen there are none. */
  const read = <Entry>(memberId: number, visible: Visible, list: () => Page<Entry>): Page<Entry> =>
    snapshot.read(() => {
      if (visible === null) return list();
      const cooperative = selectCooperative.get(memberId);
      return cooperative !== undefined && isVisible(visible, cooperative.id)
        ? list()
        : { count: 0, rows: [] };
    });

  return (visible) => ({
    ...writesOf(visible),

    listDeliveries: (memberId, filter, request) =>
      read(memberId, visible, () => {
        const period = toBounds(memberId, filter);
        return deliveries({ ...period, ...productsLike(period, filter) }, request);
      }),

    listSavingsTransactions: (memberId, filter, request) =>
      read(memberId, visible, () => transactions(toBounds(memberId, filter), request)),
  });
}
