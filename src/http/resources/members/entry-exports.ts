/** The entries of all members: what the command `export` writes of them (docs/api.md#exports). */
import { EXPORTED } from '../../../export/exported-objects.ts';
import type { Route } from '../../declare/route.ts';
import { COOPERATIVE_FILTER } from '../cooperative-fields.ts';
import { type ExportDependencies, exportRoute } from '../exports.ts';

/** Who may list the entries of a member, and may read the members that they show. */
const SHARED = {
  tag: 'members',
  access: { scope: 'members:read', alsoScope: 'members:financials' },
} as const;

const FILTERS = { cooperative: COOPERATIVE_FILTER };

export const entryExportRoutes = (exports: ExportDependencies): Route[] => [
  exportRoute(
    {
      ...{ ...SHARED, ...EXPORTED.production, kind: 'production', operationId: 'exportDeliveries' },
      path: 'deliveries',
    },
    FILTERS,
    exports,
  ),
  exportRoute(
    {
      ...{ ...SHARED, ...EXPORTED.savings, kind: 'savings', operationId: 'exportSavingsTransactions' },
      path: 'savings-transactions',
    },
    FILTERS,
    exports,
  ),
];
