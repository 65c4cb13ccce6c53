import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createApp } from '../../../hub/app.ts'
import { createAudit, NOBODY } from '../../../hub/audit/audit.ts'
import { setPassword } from '../../../hub/auth/auth.ts'
import { ApiError } from '../../../shared/problem.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.close())
beforeEach(() => {
  lines.length = 0
})

const lines: Record<string, unknown>[] = []
const log = (line: Record<string, unknown>) => void lines.push(line)
const ASKED = {
  action: 'role',
  area: 'Access',
  target: 'GET settings/models',
  address: '203.0.113.9',
}
const member = (nth: number) => ({
  kind: 'member' as const,
  id: `00000000-0000-4000-8000-00000000000${nth}`,
  name: 'Ece',
})

test('refusals of a minute are counted by who asked for what from where', async () => {
  const audit = createAudit({ db: hub.deps.db, log, can_write: true })
  const one = { ...ASKED, actor: member(1) }
  const kinds = [
    one,
    { ...one, actor: member(2) },
    { ...one, action: 'login' },
    { ...one, target: 'GET backups' },
    { ...one, address: '203.0.113.10' },
  ]
  for (const kind of [...kinds, one]) audit.refused(kind)
  await audit.flush()
  await audit.flush()
  const rows = await hub.query(
    `select actor, action, target, address, outcome, count from hub.audit order by count desc`,
  )
  expect(rows).toHaveLength(kinds.length)
  const { area: _, ...kept } = one
  expect(rows[0]).toEqual({ ...kept, outcome: 'refused', count: 2 })
  expect(rows.slice(1).map(({ count }) => count)).toEqual([1, 1, 1, 1])
})

test('they are stored a minute after the first, by themselves', async () => {
  vi.useFakeTimers()
  try {
    const audit = createAudit({ db: hub.deps.db, log, can_write: false })
    audit.refused({ ...ASKED, actor: NOBODY })
    await vi.advanceTimersByTimeAsync(40_000)
    audit.refused({ ...ASKED, actor: NOBODY })
    expect(lines).toEqual([])
    await vi.advanceTimersByTimeAsync(20_000)
    expect(lines).toEqual([
      { msg: 'act', action: 'role', actor: 'unknown', outcome: 'refused', count: 2 },
    ])
  } finally {
    vi.useRealTimers()
  }
})

test('of a flood each refusal is counted, and who else is refused in it is still told', async () => {
  const audit = createAudit({ db: hub.deps.db, log, can_write: false })
  for (let nth = 0; nth < 1500; nth += 1) {
    audit.refused({ ...ASKED, action: 'login', target: null, actor: NOBODY, address: `a${nth}` })
  }
  audit.refused({ ...ASKED, actor: member(1) })
  await audit.flush()
  expect(lines).toHaveLength(1002)
  expect(lines.reduce((sum, { count }) => sum + Number(count), 0)).toBe(1501)
  expect(lines.filter(({ actor }) => actor === member(1).id)).toHaveLength(1)
})

test('an entry is cut to what its columns take', async () => {
  const act = { ...ASKED, actor: member(3), project: null, outcome: 'done', count: 1 } as const
  const audit = createAudit({ db: hub.deps.db, log, can_write: true })
  const fields = Array.from({ length: 80 }, (_, nth) => `field_${nth}`)
  await audit.add({ ...act, target: 'x'.repeat(300), fields })
  const [row] = await hub.query<{ target: string; fields: string[]; address: string }>(
    `select target, fields, address from hub.audit where actor ->> 'id' = $1`,
    [member(3).id],
  )
  expect(row).toEqual({
    target: 'x'.repeat(200),
    fields: fields.slice(0, 60),
    address: ASKED.address,
  })
})

test('a count that cannot be stored is logged, and the next one is stored without fields', async () => {
  const audit = createAudit({ db: hub.deps.db, log, can_write: true })
  // Postgres takes no text with a NUL.
  audit.refused({ ...ASKED, actor: member(4), target: 'a\0b' })
  audit.refused({ ...ASKED, actor: member(4), target: 'GET backups' })
  await audit.flush()
  const line = { msg: 'act', action: 'role', actor: member(4).id, outcome: 'refused', count: 1 }
  expect(lines).toEqual([{ ...line, error: expect.stringMatching(/\w/) }])
  const rows = await hub.query(`select target, fields from hub.audit where actor ->> 'id' = $1`, [
    member(4).id,
  ])
  expect(rows).toEqual([{ target: 'GET backups', fields: [] }])
})

test('while the database is away, the admin signs in and changes settings: the log tells of it', async () => {
  const away = async () => Promise.reject(new ApiError('unavailable', 'away'))
  const db = { ...hub.deps.db, transaction: away, as: () => db }
  const audit = createAudit({ db, log, can_write: true })
  const app = createApp({ ...hub.deps, db, root_db: db, audit })
  const send = (method: string, path: string, body: object, headers = {}) =>
    app.request(`/api/cockpit/${path}`, {
      method,
      headers: { host: 'localhost', 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  await setPassword(hub.paths, 'correct horse battery')
  const entered = await send('POST', 'login', { password: 'correct horse battery' })
  expect(entered.status).toBe(200)
  const cookie = entered.headers.get('set-cookie')?.split(';')[0]
  expect((await send('PUT', 'settings/system', { language: 'tr' }, { cookie })).status).toBe(200)
  const acts = lines.filter(({ msg }) => msg === 'act')
  expect(acts).toMatchObject([
    { action: 'login', actor: 'admin', outcome: 'done', error: expect.stringContaining('away') },
    { action: 'setSystem', actor: 'admin', outcome: 'done' },
  ])
})
