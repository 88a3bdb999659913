/**
 * The peer: the same lookup over the same normalised tables, as a good engineer would write it with Fastify and
 * better-sqlite3: prepared statements, an indexed key lookup, a rate limiter, compiled response schemas, a log line per
 * request. REGISTRY_DB names the registry's file.
 */
import { createHash } from 'node:crypto';
import rateLimit from '@fastify/rate-limit';
import Database from 'better-sqlite3';
import Fastify from 'fastify';

const file = process.env.REGISTRY_DB;
const db = new Database(file);
// As the registry: an acknowledged write is on disk.
db.pragma('synchronous = FULL');
db.pragma('cache_size = -16384');
const keys = new Database(file.replace(/\.db$/, '.keys.db'), { readonly: true });

const selectKey = keys.prepare(
  `SELECT k.id, k.scopes, k.is_active, k.expires_at, k.per_hour FROM api_key_secrets s
   JOIN api_keys k ON k.id = s.key_id WHERE s.hash = ?`,
);
const selectMemberships = db.prepare(
  `SELECT m.*, c.code AS cooperative_code, c.name AS cooperative_name
   FROM members m INDEXED BY members_person JOIN cooperatives c ON c.id = m.cooperative_id
   WHERE m.identity_card = ? AND m.status = 'active' ORDER BY m.registration_date DESC, m.id DESC`,
);
const sumProduction = db.prepare(
  `SELECT count(*) AS count, coalesce(sum(grams), 0) AS grams, max(delivered_at) AS last FROM production_entries
   WHERE member_id = ? AND delivered_at > ? AND delivered_at <= ?`,
);
const selectLoans = db.prepare(
  `SELECT * FROM loans WHERE member_id = ?
   ORDER BY CASE WHEN status = 'pending' OR (status = 'approved' AND loan_start_date IS NULL) THEN 0
     WHEN status IN ('rejected', 'cancelled') AND loan_start_date IS NULL THEN 2 ELSE 1 END,
     loan_start_date DESC, id DESC LIMIT 10`,
);
const countAccounts = db.prepare('SELECT count(*) AS count FROM savings_accounts WHERE member_id = ?');
const sumSavings = db.prepare(
  `SELECT coalesce(sum(CASE WHEN t.kind = 'contribution' THEN t.amount_minor END), 0) AS contributions,
     coalesce(sum(CASE WHEN t.kind = 'withdrawal' THEN t.amount_minor END), 0) AS withdrawals, max(t.transacted_at) AS last
   FROM savings_accounts a JOIN savings_transactions t ON t.account_id = a.id WHERE a.member_id = ?`,
);

// The registry's own counters: with count(*) a page would take four times as long.
const countMembers = db.prepare(
  `SELECT coalesce(sum(rows), 0) AS count FROM member_large_blocks WHERE status <> 'erased'`,
);
const selectPage = db.prepare(
  `SELECT m.id, m.member_code, m.full_name, m.identity_card, m.mobile, m.gender, m.role, m.status,
     m.registration_date, c.id AS cooperative_id, c.code AS cooperative_code, c.name AS cooperative_name
   FROM members m JOIN cooperatives c ON c.id = m.cooperative_id ORDER BY m.id LIMIT ? OFFSET ?`,
);

const iso = (seconds) =>
  seconds === null ? null : `${new Date((seconds + 7200) * 1000).toISOString().slice(0, 19)}+02:00`;
const decimal = (units, digits) => (units / 10 ** digits).toFixed(digits);

function financials(id, now) {
  const production = sumProduction.get(id, now - 365 * 86_400, now);
  const savings = sumSavings.get(id);
  return {
    production_summary: {
      window_days: 365,
      entries_count: production.count,
      total_kg: decimal(production.grams, 3),
      last_delivery_at: iso(production.last),
    },
    loan_history: selectLoans.all(id).map((loan) => ({
      id: String(loan.id),
      amount: decimal(loan.amount_minor, 2),
      interest_rate: decimal(loan.interest_rate_hundredths, 2),
      status: loan.status,
      paid_amount: decimal(loan.paid_amount_minor, 2),
      loan_start_date: iso(loan.loan_start_date),
      loan_end_date: iso(loan.loan_end_date),
      approved_at: iso(loan.approved_at),
    })),
    savings_summary: {
      accounts_count: countAccounts.get(id).count,
      total_contributions_rwf: decimal(savings.contributions, 2),
      total_withdrawals_rwf: decimal(savings.withdrawals, 2),
      last_transaction_at: iso(savings.last),
    },
  };
}

const NO_FINANCIALS = { production_summary: null, loan_history: null, savings_summary: null };
const text = { type: 'string' };
const maybe = { type: 'string', nullable: true };
const object = (properties, more = {}) => ({ type: 'object', properties, ...more });
const LOAN = object({
  id: text,
  amount: text,
  interest_rate: text,
  status: text,
  paid_amount: text,
  loan_start_date: maybe,
  loan_end_date: maybe,
  approved_at: maybe,
});
const MEMBERSHIP = object({
  cooperative: object({ id: text, code: text, name: text }),
  member_code: text,
  full_name: text,
  first_name: maybe,
  last_name: maybe,
  role: text,
  status: text,
  registration_date: text,
  mobile: maybe,
  production_summary: object(
    {
      window_days: { type: 'integer' },
      entries_count: { type: 'integer' },
      total_kg: text,
      last_delivery_at: maybe,
    },
    { nullable: true },
  ),
  loan_history: { type: 'array', nullable: true, items: LOAN },
  savings_summary: object(
    {
      accounts_count: { type: 'integer' },
      total_contributions_rwf: text,
      total_withdrawals_rwf: text,
      last_transaction_at: maybe,
    },
    { nullable: true },
  ),
});
const PERSON = object({
  identity_card: text,
  primary_full_name: text,
  name_variants: { type: 'array', items: text },
  gender: maybe,
  date_of_birth: maybe,
  mobile: maybe,
  memberships: { type: 'array', items: MEMBERSHIP },
});

const ROW = object({
  id: text,
  member_code: text,
  full_name: text,
  identity_card: text,
  mobile: maybe,
  gender: maybe,
  role: text,
  status: text,
  cooperative: object({ id: text, code: text, name: text }),
  registration_date: text,
});
const PAGE = object({
  count: { type: 'integer' },
  next: maybe,
  previous: maybe,
  results: { type: 'array', items: ROW },
});

const app = Fastify({ logger: { level: 'info', redact: ['req.headers.authorization'] } });

app.addHook('onRequest', async (request, reply) => {
  const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
  const key = token && selectKey.get(createHash('sha256').update(token).digest());
  const now = Math.floor(Date.now() / 1000);
  if (key?.is_active !== 1 || (key.expires_at !== null && key.expires_at <= now)) {
    return reply.code(401).send({ detail: 'Invalid API key.' });
  }
  const scopes = JSON.parse(key.scopes);
  if (!scopes.includes(request.method === 'POST' ? 'members:write' : 'members:read')) {
    return reply.code(403).send({ detail: 'You do not have permission to perform this action.' });
  }
  request.apiKey = {
    id: key.id,
    perHour: key.per_hour,
    seesFinancials: scopes.includes('members:financials'),
  };
});
await app.register(rateLimit, {
  hook: 'preHandler',
  timeWindow: '1 hour',
  max: (request) => request.apiKey.perHour,
  keyGenerator: (request) => request.apiKey.id,
});

app.get(
  '/api/v1/members/:nid/',
  {
    schema: {
      params: object({ nid: { type: 'string', pattern: '^[0-9]{16}$' } }),
      response: { 200: PERSON },
    },
  },
  async (request, reply) => {
    const memberships = selectMemberships.all(request.params.nid);
    const [newest] = memberships;
    if (newest === undefined) return reply.code(404).send({ detail: 'Not found.' });
    const now = Math.floor(Date.now() / 1000);
    const firstKnown = (field) => memberships.find((row) => row[field] !== null)?.[field] ?? null;
    reply.header('Cache-Control', 'private, no-store');
    return {
      identity_card: newest.identity_card,
      primary_full_name: newest.full_name,
      name_variants: [...new Set(memberships.map((row) => row.full_name))],
      gender: firstKnown('gender'),
      date_of_birth: firstKnown('date_of_birth'),
      mobile: firstKnown('mobile'),
      memberships: memberships.map((row) => ({
        cooperative: {
          id: String(row.cooperative_id),
          code: row.cooperative_code,
          name: row.cooperative_name,
        },
        member_code: row.member_code,
        full_name: row.full_name,
        first_name: row.first_name,
        last_name: row.last_name,
        role: row.role,
        status: row.status,
        registration_date: iso(row.registration_date),
        mobile: row.mobile,
        ...(request.apiKey.seesFinancials ? financials(row.id, now) : NO_FINANCIALS),
      })),
    };
  },
);

const insertMember = db.prepare(
  `INSERT INTO members (cooperative_id, identity_card, member_code, full_name, gender, mobile, role, status,
     registration_date, created_at, updated_at)
   VALUES (@cooperative_id, @identity_card, @member_code, @full_name, @gender, @mobile, 'MEMBER', 'active',
     @registered, @now, @now)`,
);
const NEW_MEMBER = object(
  {
    cooperative_id: text,
    identity_card: { type: 'string', pattern: '^[0-9]{16}$' },
    member_code: { type: 'string', minLength: 1, maxLength: 64 },
    full_name: { type: 'string', minLength: 1, maxLength: 200 },
    gender: { type: 'string', enum: ['MALE', 'FEMALE', 'OTHER'] },
    mobile: text,
    registration_date: { type: 'string', format: 'date' },
  },
  { required: ['cooperative_id', 'identity_card', 'member_code', 'full_name'], additionalProperties: false },
);
const MEMBER = object({ id: text, ...NEW_MEMBER.properties, status: text, role: text, created_at: text });

// One row, one transaction: no check but those of the schema and of the table, and no counters.
app.post(
  '/api/v1/members',
  { schema: { body: NEW_MEMBER, response: { 201: MEMBER } } },
  async (request, reply) => {
    const now = Math.floor(Date.now() / 1000);
    const registered = Math.floor(Date.parse(`${request.body.registration_date}T00:00:00+02:00`) / 1000);
    const { lastInsertRowid } = insertMember.run({ ...request.body, registered, now });
    reply.code(201).header('Location', `/api/v1/members/${lastInsertRowid}`);
    const created_at = iso(now);
    return { id: String(lastInsertRowid), ...request.body, role: 'MEMBER', status: 'active', created_at };
  },
);

app.get(
  '/api/v1/members/',
  {
    schema: {
      querystring: object({
        page: { type: 'integer', minimum: 1, default: 1 },
        page_size: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      }),
      response: { 200: PAGE },
    },
  },
  async (request, reply) => {
    const { page, page_size: size } = request.query;
    const { count } = countMembers.get();
    const rows = selectPage.all(size, (page - 1) * size);
    const link = (number) =>
      `${request.protocol}://${request.host}/api/v1/members/?page=${number}&page_size=${size}`;
    reply.header('Cache-Control', 'private, no-store');
    return {
      count,
      next: page * size < count ? link(page + 1) : null,
      previous: page > 1 ? link(page - 1) : null,
      results: rows.map((row) => ({
        id: String(row.id),
        member_code: row.member_code,
        full_name: row.full_name,
        identity_card: row.identity_card,
        mobile: row.mobile,
        gender: row.gender,
        role: row.role,
        status: row.status,
        cooperative: {
          id: String(row.cooperative_id),
          code: row.cooperative_code,
          name: row.cooperative_name,
        },
        registration_date: iso(row.registration_date),
      })),
    };
  },
);

const address = await app.listen({ port: 0, host: '127.0.0.1' });
process.stderr.write(`Serving on ${address}\n`);
