import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { AgentContext } from '../../../hub/agents/agent.ts'
import { replaceMail } from '../../../hub/agents/mails/earlier-mail.ts'
import {
  createContext,
  type MissionRow,
  MissionTaken,
  type RunDeps,
} from '../../../hub/agents/run/run.ts'
import { everywhere, type Project } from '../../../hub/db/db.ts'
import { LOCK_SPACE, LOCKS } from '../../../hub/db/locks.ts'
import { setBasis } from '../../../hub/leads/basis.ts'
import { undoImport } from '../../../hub/leads/import-undo.ts'
import { copyLead } from '../../../hub/leads/lead-copy.ts'
import { mergeLeads } from '../../../hub/leads/merge.ts'
import { undoMerge } from '../../../hub/leads/merge-undo.ts'
import { requireRoom } from '../../../hub/license/license.ts'
import { outdateDrafts } from '../../../hub/mail/drafts/state-outdated.ts'
import { release } from '../../../hub/mail/suppression.ts'
import { alert, improve } from '../../../hub/missions/improve.ts'
import { retryMission } from '../../../hub/missions/mission.ts'
import { editResult } from '../../../hub/missions/result-versions.ts'
import { createWebhooks } from '../../../hub/webhooks/deliver.ts'
import type { Sql } from '../../../shared/sql.ts'
import { startHub, type TestHub } from '../support/hub.ts'

/** What decides by rows that others change locks them before it decides, and before it writes anything. */
let hub: TestHub
let pool: pg.Pool
const ids: Record<string, string> = {}

beforeAll(async () => {
  hub = await startHub()
  const url = new URL(inject('server').adminUrl)
  url.pathname = new URL(hub.owner_url).pathname
  pool = new pg.Pool({ connectionString: url.href, max: 2 })
  // The database may be dropped before the last connection has closed.
  pool.on('error', () => {})
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir' })
  const make = async (name: string, sql: string, values: unknown[] = []) => {
    const [row] = await hub.query<{ id: string }>(`insert into hub.${sql} returning id`, values)
    ids[name] = row?.id ?? ''
  }
  const [project] = await hub.query<{ id: string }>('select id from hub.projects')
  ids.project = project?.id ?? ''
  const own = [ids.project]
  await make('kept', "leads (project_id, name, email) values ($1, 'Jo', 'jo@x.example')", own)
  await make('gone', "leads (project_id, name, email) values ($1, 'Jo', 'jo@y.example')", own)
  await make(
    'draft',
    `drafts (project_id, audience, state, subject, text) values ($1, '{"kind": "list", "filter": {}}', 'rendered', 'S', 'T')`,
    own,
  )
  await make(
    'sequence',
    `sequences (project_id, name, send_window) values ($1, 'S', '{"days": ["mon"], "from": "09:00", "to": "17:00", "time_zone": "UTC"}')`,
    own,
  )
  await make(
    'mission',
    "missions (project_id, department, task, status) values ($1, 'docs', 'Write.', 'failed')",
    own,
  )
  await make(
    'import',
    "imports (project_id, file, options, total, status) values ($1, 'a.csv', '{}', 1, 'done')",
    own,
  )
  await make(
    'merge',
    "merges (project_id, lead_id, gone, kept, moved) values ($1, $2, '{}', '{}', '{}')",
    [ids.project, ids.kept],
  )
  await make('task', "tasks (project_id, title) values ($1, 'Call')", own)
  await make('imported', "leads (project_id, name) values ($1, 'I')", own)
  await make(
    'activity',
    "activities (project_id, lead_id, kind, details) values ($1, $2, 'imported', $3)",
    [ids.project, ids.imported, { import_id: ids.import }],
  )
  await hub.query(
    "insert into hub.suppression (email_hash, reason) values (repeat('0', 64), 'manual')",
  )
})
afterAll(async () => {
  await pool?.end()
  await hub?.close()
})

/** What becomes of work while somebody holds a lock that they took with a statement; with `commits` it goes on then. */
async function becomes(
  held: string,
  work: () => Promise<unknown>,
  { commits = false } = {},
): Promise<string> {
  const holder = await pool.connect()
  try {
    await holder.query('begin')
    await holder.query(held)
    const [own] = (await holder.query('select pg_backend_pid() as pid')).rows
    let ended = false
    const running = work()
      .catch(() => {})
      .then(() => {
        ended = true
      })
    for (;;) {
      const { rows } = await pool.query<{ pid: number; writes: string[] }>(
        `select a.pid, array(
            select distinct relation::regclass::text from pg_locks l join pg_class c on c.oid = l.relation
            where l.pid = a.pid and l.mode = 'RowExclusiveLock' and c.relkind = 'r'
              and c.relnamespace = 'hub'::regnamespace) as writes
        from pg_stat_activity a
        where a.datname = current_database() and $1 = any(pg_blocking_pids(a.pid))`,
        [own.pid],
      )
      if (ended) return 'goes on'
      const [waiting] = rows
      if (!waiting) continue
      if (commits) await holder.query('commit')
      // What waited changes nothing for the other tests.
      else await pool.query('select pg_cancel_backend($1)', [waiting.pid])
      await running
      return `waits, having begun to write ${waiting.writes.join(', ') || 'nothing'}`
    }
  } finally {
    await holder.query('rollback')
    holder.release()
  }
}

const row = (table: string, name = table) =>
  `select from hub.${table}s where id = '${ids[name]}' for update`
const advisory = (name: keyof typeof LOCKS) =>
  `select pg_advisory_xact_lock(${LOCK_SPACE}, ${LOCKS[name]})`
const within = (work: (sql: Sql) => Promise<unknown>) => everywhere(hub.deps.db, work)
const id = (name: string) => ids[name] ?? ''
const post = (path: string, body: object) => hub.call('POST', path, body)
const put = (path: string, body: object) => hub.call('PUT', path, body)
const project = 'demir'

const merge = (sql: Sql) =>
  mergeLeads(
    sql,
    { salt: { current: Buffer.alloc(32), all: [Buffer.alloc(32)] }, queued: new Set() },
    { kept_id: id('kept'), gone_id: id('gone'), choices: {} },
  )

type Case = [what: string, held: () => string, work: () => Promise<unknown>]
const CASES: Case[] = [
  [
    'a draft is edited',
    () => row('draft'),
    () => post('draft/edit', { project, id: id('draft'), subject: 'Other' }),
  ],
  [
    'drafts are rendered anew',
    () => row('draft'),
    () => within((sql) => outdateDrafts(sql, id('project'), { en: 'x', tr: 'x' })),
  ],
  [
    'a sequence ends',
    () => row('sequence'),
    () => post('sequence/stop', { project, id: id('sequence') }),
  ],
  [
    'a sequence is approved beside another',
    () => row('project'),
    () => post('sequence/approve', { project, id: id('sequence') }),
  ],
  [
    'reasons of deals change',
    () => row('project'),
    () => put('deals/settings', { project, lost_reasons: ['Price'] }),
  ],
  ['own fields change', () => row('project'), () => put('leads/fields', { project, fields: [] })],
  [
    'a lead is changed',
    () => row('lead', 'kept'),
    () => post('lead/update', { lead_id: id('kept'), title: 'CEO' }),
  ],
  [
    'many leads are changed',
    () => row('lead', 'kept'),
    () => post('leads/bulk', { project, ids: [id('kept')], add_tags: ['x'] }),
  ],
  [
    'the legal basis of leads is set',
    () => row('lead', 'kept'),
    () =>
      within((sql) =>
        setBasis(sql, id('project'), {
          ids: [id('kept')],
          overwrite: true,
          lawful_basis: 'consent',
          basis_note: 'x',
          basis_source: null,
          basis_on: null,
        }),
      ),
  ],
  [
    'a lead is copied',
    () => row('lead', 'kept'),
    () =>
      within(
        (sql) =>
          copyLead(sql, {
            id: id('kept'),
            from: { id: id('project'), slug: project, name: 'Demir' },
            to: { id: id('project'), slug: project, name: 'Demir' },
          } as unknown as Parameters<typeof copyLead>[1]), // safe: all that it reads
      ),
  ],
  ['leads are merged', () => row('lead', 'gone'), () => within(merge)],
  ['a merge is undone', () => row('merge'), () => within((sql) => undoMerge(sql, id('merge')))],
  [
    'a merge is undone while its lead changes',
    () => row('lead', 'kept'),
    () => within((sql) => undoMerge(sql, id('merge'))),
  ],
  ...[() => row('import'), () => row('lead', 'imported')].map(
    (held): Case => [
      'an import is undone',
      held,
      () => within((sql) => undoImport(sql, id('import'))),
    ],
  ),
  [
    'an address is released',
    () => "select from hub.suppression where email_hash = repeat('0', 64) for update",
    () => within((sql) => release(sql, ['0'.repeat(64)])),
  ],
  [
    'a mission is tried again',
    () => row('mission'),
    () => within((sql) => retryMission(sql, id('mission'))),
  ],
  [
    'a result is edited',
    () => row('mission'),
    () =>
      within(
        (sql) =>
          editResult(sql, hub.paths, {
            id: id('mission'),
            part: 'summary',
            version: 1,
            text: 'x',
            by: 'token',
          } as Parameters<typeof editResult>[2]), // safe: a part that every result has
      ),
  ],
  ['missions are planned', () => advisory('improve'), () => improve(hub.deps.db, hub.config)],
  [
    'the hub tells of a fault',
    () => advisory('improve'),
    () => alert(hub.deps.db, hub.paths, { kind: 'mail', message: 'x' }),
  ],
  [
    'a project is counted',
    () => advisory('license'),
    () =>
      within(
        (sql) =>
          requireRoom(sql, { tier: 'free', max_projects: 9 } as Parameters<typeof requireRoom>[1]), // safe: all that it reads
      ),
  ],
]

test.each(CASES)('%s: it waits before it writes', async (_, held, work) => {
  expect(await becomes(held(), work)).toBe('waits, having begun to write nothing')
})

test('tags that are added while others are being added are all there', async () => {
  const { gone } = ids
  await hub.query("update hub.leads set tags = '{}' where id = $1", [gone])
  const first = `update hub.leads set tags = '{first}' where id = '${gone}'`
  const second = () => post('leads/bulk', { project, ids: [gone], add_tags: ['second'] })
  expect(await becomes(first, second, { commits: true })).toMatch(/^waits/)
  expect(await hub.query('select tags from hub.leads where id = $1', [gone])).toEqual([
    { tags: ['first', 'second'] },
  ])
})

test.each<[what: string, held: () => string, path: string, change: () => object, after: string]>([
  [
    'a task',
    () => `update hub.tasks set title = 'Visit' where id = '${id('task')}'`,
    'lead/task/update',
    () => ({ task_id: id('task'), due_on: '2026-03-01' }),
    "select title as one, due_on::text as other from hub.tasks where title = 'Visit'",
  ],
  [
    'a project',
    () => `update hub.projects set industry = 'Tea' where id = '${id('project')}'`,
    'projects/update',
    () => ({ slug: project, website: 'https://x.example' }),
    "select industry as one, website as other from hub.projects where industry = 'Tea'",
  ],
])(
  'two people change different parts of %s, and both stay',
  async (_, held, path, change, after) => {
    expect(await becomes(held(), () => post(path, change()), { commits: true })).toMatch(/^waits/)
    const text = expect.any(String)
    expect(await hub.query(after)).toEqual([{ one: text, other: text }])
  },
)

test('mails to a lead that is merged are looked at before any is changed', async () => {
  const { gone } = ids
  const [mail] = await hub.query<{ id: string }>(
    `insert into hub.drafts (project_id, audience, state, subject, text)
    values ($1, jsonb_build_object('kind', 'lead', 'lead_id', $2::text), 'rendered', 'S', 'T') returning id`,
    [ids.project, gone],
  )
  const held = `select from hub.drafts where id = '${mail?.id}' for update`
  const merged = await becomes(held, () => within(merge))
  expect(merged).toMatch(/^waits/)
  expect(merged).not.toMatch(/hub\.drafts/)
})

test('a mail that is approved while a newer one takes its place stays, and is no fault', async () => {
  const audience = { kind: 'lead' as const, lead_id: id('gone') }
  const [mail] = await hub.query<{ id: string }>(
    `insert into hub.drafts (project_id, audience, state, subject, text, html)
    values ($1, $2, 'rendered', 'S', 'T', 'x') returning id`,
    [ids.project, audience],
  )
  const context = {
    thread: { words: '', earlier: [{ drafts: [{ id: mail?.id, audience }] }] },
    project: { id: id('project'), slug: project },
    language: 'en',
  } as unknown as AgentContext // safe: all that it reads
  const held = `update hub.drafts set state = 'approved', approved_hash = 'x', approved_at = now()
    where id = '${mail?.id}'`
  let fault: unknown
  const replace = () =>
    within((sql) => replaceMail(sql, context, audience)).catch((error: unknown) => {
      fault = error
    })
  expect(await becomes(held, replace, { commits: true })).toMatch(/^waits/)
  expect(fault).toBeUndefined()
  expect(await hub.query('select state from hub.drafts where id = $1', [mail?.id])).toEqual([
    { state: 'approved' },
  ])
})

test('a step of a mission is kept only while it is still this run’s', async () => {
  const run = randomUUID()
  const [mission] = await hub.query<MissionRow>(
    `insert into hub.missions (project_id, department, task, status, run) values ($1, 'docs', 'Write.', 'processing', $2)
    returning id, department, task, input, routed_by, created_at::text, tokens, continues`,
    [ids.project, run],
  )
  if (!mission) throw new Error('no mission was made')
  const made = await createContext(
    { config: hub.config, db: hub.deps.db, reader: {} } as RunDeps, // safe: no step needs more
    { name: 'docs', variables: {}, budget: { steps: 9, tokens: 9 } },
    {
      ...{ mission, run, spent: { tokens: 0 }, signal: new AbortController().signal },
      project: { id: id('project'), slug: project, name: 'Demir' } as Project,
      on_event: () => {},
      on_token: () => {},
    },
  )
  const step = () => made.step('left out', async () => 'done')
  const held = `select from hub.missions where id = '${mission.id}' for update`
  expect(await becomes(held, step)).toBe('waits, having begun to write nothing')
  await hub.query("update hub.missions set status = 'failed' where id = $1", [mission.id])
  await expect(step()).rejects.toThrow(MissionTaken)
  await hub.query("update hub.missions set status = 'processing', run = $2 where id = $1", [
    mission.id,
    randomUUID(),
  ])
  await expect(step()).rejects.toThrow(MissionTaken)
  expect(await hub.query('select from hub.mission_steps')).toEqual([])
})

test('a message to a webhook is left to the process that is sending it', async () => {
  await hub.query(
    `with webhook as (
      insert into hub.webhooks (label, url, events, secret)
      values ('x', 'https://hooks.example/x', '{mission.done}', 'x') returning id)
    insert into hub.webhook_deliveries (webhook_id, event, data) select id, 'mission.done', '{}' from webhook`,
  )
  const { deps, paths } = hub
  const webhooks = createWebhooks({ db: deps.db, paths, log: () => {} })
  const held = 'select from hub.webhook_deliveries for update'
  expect(await becomes(held, webhooks.sweep)).toBe('goes on')
  expect(await hub.query('select state from hub.webhook_deliveries')).toEqual([{ state: 'queued' }])
})

test('what nobody else has does not wait', async () => {
  const change = () => post('lead/update', { lead_id: id('gone'), title: 'CTO' })
  expect(await becomes(row('lead', 'kept'), change)).toBe('goes on')
})
