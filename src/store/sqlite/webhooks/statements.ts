/** The statements on the webhooks' file. */
import type { WebhookAttempt } from '../../contract/webhooks.ts';
import type { Connection } from '../engine/connection.ts';

export interface EndpointRow {
  readonly id: number;
  readonly key_id: number;
  readonly url: string;
  readonly types: string | null;
  readonly allows_private: number;
  readonly created_at: number;
  readonly disabled_at: number | null;
  readonly epoch: string;
  readonly sequence: number;
  readonly is_restarted: number;
  readonly failures: number;
  readonly failing_sequence: number | null;
  readonly next_attempt_at: number;
  readonly revision: number;
}

const FEW = 'of one endpoint';

export const prepareStatements = (db: Connection) => ({
  selectAll: db.prepare<[], EndpointRow>('SELECT * FROM webhook_endpoints ORDER BY id', 'every endpoint'),
  selectOne: db.prepare<[number], EndpointRow>('SELECT * FROM webhook_endpoints WHERE id = ?'),
  selectSkips: db.prepare<[number], { sequence: number }>(
    'SELECT sequence FROM webhook_skips WHERE endpoint_id = ? ORDER BY sequence',
    FEW,
  ),
  selectSecrets: db.prepare<[id: number, nowSeconds: number], { secret: Uint8Array }>(
    `SELECT secret FROM webhook_secrets WHERE endpoint_id = ? AND (ends_at IS NULL OR ends_at > ?)
     ORDER BY id DESC`,
    FEW,
  ),
  selectAttempts: db.prepare<[id: number, limit: number], WebhookAttempt>(
    `SELECT webhook_id AS webhookId, type, sequence, at AS atMs, duration_ms AS durationMs, status, fault
     FROM webhook_attempts WHERE endpoint_id = ? ORDER BY id DESC LIMIT ?`,
    FEW,
  ),
  insert: db.prepare<unknown[]>(
    `INSERT INTO webhook_endpoints (key_id, url, types, allows_private, created_at, epoch, sequence)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ),
  insertSecret: db.prepare<[id: number, secret: Uint8Array]>(
    'INSERT INTO webhook_secrets (endpoint_id, secret) VALUES (?, ?)',
  ),
  removeEndedSecrets: db.prepare<[id: number, nowSeconds: number]>(
    'DELETE FROM webhook_secrets WHERE endpoint_id = ? AND ends_at <= ?',
  ),
  endSecrets: db.prepare<[endsAt: number, id: number, endsAtToo: number]>(
    'UPDATE webhook_secrets SET ends_at = ? WHERE endpoint_id = ? AND (ends_at IS NULL OR ends_at > ?)',
  ),
  insertSkip: db.prepare<[id: number, sequence: number]>(
    'INSERT INTO webhook_skips (endpoint_id, sequence) VALUES (?, ?) ON CONFLICT DO NOTHING',
  ),
  removePassedSkips: db.prepare<[id: number, sequence: number]>(
    'DELETE FROM webhook_skips WHERE endpoint_id = ? AND sequence <= ?',
  ),
  touch: db.prepare<[number]>('UPDATE webhook_endpoints SET revision = revision + 1 WHERE id = ?'),
  resume: db.prepare<[number]>(
    `UPDATE webhook_endpoints SET next_attempt_at = 0, disabled_at = NULL, revision = revision + 1
     WHERE id = ?`,
  ),
  remove: db.prepare<[number]>('DELETE FROM webhook_endpoints WHERE id = ?'),
  update: db.prepare<unknown[]>(
    `UPDATE webhook_endpoints SET epoch = ?, sequence = ?, is_restarted = ?, failures = ?,
       failing_sequence = ?, next_attempt_at = ?, disabled_at = ? WHERE id = ? AND revision = ?`,
  ),
  insertAttempt: db.prepare<unknown[]>(
    `INSERT INTO webhook_attempts (endpoint_id, webhook_id, type, sequence, at, duration_ms, status, fault)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  trimAttempts: db.prepare<[{ id: number; isDelivered: number; most: number }]>(
    `DELETE FROM webhook_attempts WHERE endpoint_id = @id AND (fault IS NULL) = @isDelivered AND id <= (
       SELECT id FROM webhook_attempts WHERE endpoint_id = @id AND (fault IS NULL) = @isDelivered
       ORDER BY id DESC LIMIT 1 OFFSET @most)`,
    FEW,
  ),
  dataVersion: db.prepare<[], { data_version: number }>('PRAGMA data_version'),
});

export type Statements = ReturnType<typeof prepareStatements>;
