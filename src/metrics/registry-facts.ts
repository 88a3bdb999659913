/** How the registry is doing, as metrics. */
import type { Condition } from '../store/contract/condition.ts';
import type { Metrics } from './declarations.ts';

/**
 * @param condition undefined when it could not be read: all of it is left out
 * @param nowSeconds epoch seconds, for the age of what waits
 */
export function registryFacts(condition: Condition | undefined, nowSeconds: number) {
  const { readModel, lastBackup: last, lastImport, imports } = condition ?? {};
  const rows = Object.entries(condition?.rows ?? {});
  const endpoints = (condition?.endpoints ?? []).map((each) => ({
    ...each,
    labels: [String(each.endpoint.id)] as const,
  }));
  return {
    registry_rows: rows.map(([table, count]) => [[table], count] as const),
    registry_files_bytes: condition?.bytes,
    registry_wal_bytes: condition?.logBytes,
    registry_disk_free_bytes: condition?.freeBytes,
    registry_disk_reserved_bytes: condition?.reservedBytes,
    registry_stale_members: readModel?.stale,
    registry_read_model_outdated: readModel && Number(readModel.hasOtherRules),
    registry_feed_sequence: condition?.sequence?.lastSequence,
    registry_imports_running: imports?.running,
    registry_imports_staged_bytes: imports?.stagedBytes,
    registry_last_import_timestamp_seconds: lastImport?.importedAt,
    registry_last_backup_timestamp_seconds: last ? last.instantMs / 1000 : undefined,
    registry_last_backup_verified: last
      ? Number(last.verifiedAtMs !== null && last.fault === null)
      : undefined,
    registry_last_backup_present: last ? Number(last.place !== 'missing') : undefined,
    registry_webhook_lag_seconds: endpoints.flatMap(({ labels, behind, oldestAt }) =>
      behind === null ? [] : [[labels, oldestAt === null ? 0 : Math.max(0, nowSeconds - oldestAt)] as const],
    ),
    registry_webhook_lag_events: endpoints.flatMap(({ labels, behind }) =>
      behind === null ? [] : [[labels, behind] as const],
    ),
    registry_webhook_failures: endpoints.map(({ labels, endpoint }) => [labels, endpoint.failures] as const),
    registry_webhook_disabled: endpoints.map(
      ({ labels, endpoint }) => [labels, Number(endpoint.disabledAt !== null)] as const,
    ),
  } satisfies Partial<Metrics>;
}
