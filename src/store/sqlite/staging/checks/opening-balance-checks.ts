/** What a loans file may not say of an opening balance (docs/import-reference.md#opening-balances). */
import { IS_ANOTHER_BALANCE } from '../../schema/opening-balance.ts';
import { type Check, where } from './check-statements.ts';

export const OPENING_BALANCE_CHECKS: readonly Check[] = [
  {
    ...where(
      'paid_amount',
      'The paid amount is computed from the recorded payments. Leave the cell empty.',
      `t.paid_amount_minor > t.opening_balance_minor AND ${IS_ANOTHER_BALANCE}`,
      'CROSS JOIN main.loans t ON t.id = p.id',
    ),
    onlyWith: 'paid_amount',
  },
];
