/** What the reading of a cell may depend on, beside the cell. */
import { formatDate, type TimeZone } from '../../domain/date-time.ts';

export interface CellContext {
  readonly zone: TimeZone;
  readonly nowSeconds: number;
  /** The day of now in the zone, `YYYY-MM-DD`. */
  readonly today: string;
}

export const cellContext = (zone: TimeZone, nowSeconds: number): CellContext => ({
  zone,
  nowSeconds,
  today: formatDate(nowSeconds, zone),
});
