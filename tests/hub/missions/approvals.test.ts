import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { everywhere } from '../../../hub/db/db.ts'
import { WordsError } from '../../../hub/i18n/failure.ts'
import { verbatim } from '../../../hub/i18n/words.ts'
import { propose, resumeApproved } from '../../../hub/missions/approvals.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { apiOf } from '../support/mail-help.ts'
import { joinAs } from '../support/members.ts'

let hub: TestHub
let api: ReturnType<typeof apiOf>
let project_id = ''
beforeAll(async () => {
  hub = await startHub()
  api = apiOf(hub)
  const [project] = await hub.query<{ id: string }>(
    `insert into hub.projects (slug, name) values ('demir', 'Demir') returning id`,
  )
  project_id = project?.id ?? ''
})
afterAll(() => hub.close())

const action = { do: 'note_process', text: 'Call before noon', order: [1, 2] }
let id = ''
let hash = ''
let mission_id = ''
/** A mission that waits for a yes. */
beforeEach(async () => {
  const [mission] = await hub.query<{ id: string }>(
    `insert into hub.missions (project_id, department, task, waits_for, reason)
     values ($1, 'pm', 'Improve', 'approval', '{"en": "Waits", "tr": "Bekliyor"}') returning id`,
    [project_id],
  )
  mission_id = mission?.id ?? ''
  const request = { kind: 'process' as const, title: verbatim('Call before noon'), action }
  id = await everywhere(hub.deps.db, (sql) => propose(sql, { project_id, mission_id }, request))
  hash = (await kept())?.action_hash
})

const kept = async () => (await hub.query('select * from hub.approvals where id = $1', [id]))[0]
const waitsFor = async () =>
  (await hub.query('select waits_for from hub.missions where id = $1', [mission_id]))[0]?.waits_for

describe('an approval', () => {
  test('is for what was shown: for anything else it is 409, and nothing is decided', async () => {
    for (const other of ['a'.repeat(64), hash.toUpperCase()]) {
      expect(await api.post('approvals/approve', { id, hash: other })).toMatchObject({
        status: 409,
        body: { code: 'conflict' },
      })
    }
    expect(await kept()).toMatchObject({ status: 'waiting', decided_at: null })
    expect(await waitsFor()).toBe('approval')
  })

  test('does not hold for an action that was changed behind it', async () => {
    await hub.query(`update hub.approvals set action = action || '{"text": "Never"}'`)
    expect(await api.post('approvals/approve', { id, hash })).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    })
    expect(await kept()).toMatchObject({ status: 'waiting' })
  })

  test('ignores the order of an action’s fields, but not of its lists', async () => {
    const change = (next: object) =>
      hub.query('update hub.approvals set action = $2 where id = $1', [id, JSON.stringify(next)])
    await change({ ...action, order: [2, 1] })
    expect((await api.post('approvals/approve', { id, hash })).status).toBe(409)
    await change({ order: [1, 2], text: action.text, do: action.do })
    await api.ok('approvals/approve', { id, hash })
    expect(await waitsFor()).toBeNull()
  })
})

test('what a cancelled mission asked for is rejected, and nothing else', async () => {
  const request = { kind: 'process' as const, title: verbatim('Call at noon'), action }
  const decided = await everywhere(hub.deps.db, (sql) =>
    propose(sql, { project_id, mission_id }, request),
  )
  await hub.query(`update hub.approvals set status = 'failed' where id = $1`, [decided])
  const [other] = await hub.query<{ id: string }>(
    `insert into hub.missions (project_id, department, task) values ($1, 'pm', 'Another') returning id`,
    [project_id],
  )
  const asked = await everywhere(hub.deps.db, (sql) =>
    propose(sql, { project_id, mission_id: other?.id ?? '' }, request),
  )
  expect((await api.post('mission/cancel', { id: mission_id })).status).toBe(202)
  expect(await kept()).toMatchObject({
    status: 'rejected',
    outcome: { en: 'The mission was cancelled.' },
    decided_at: expect.anything(),
  })
  const rest = await hub.query(
    'select id, status from hub.approvals where id = any($1) order by status',
    [[decided, asked]],
  )
  expect(rest).toEqual([
    { id: decided, status: 'failed' },
    { id: asked, status: 'waiting' },
  ])
})

describe('what was decided', () => {
  test.each([
    ['approve', 'reject'],
    ['approve', 'approve'],
    ['reject', 'approve'],
    ['reject', 'reject'],
  ])('by %s stays: %s is 409 then', async (first, second) => {
    await api.ok(`approvals/${first}`, { id, ...(first === 'approve' ? { hash } : {}) })
    const before = await kept()
    const again = { id, ...(second === 'approve' ? { hash } : { reason: 'Changed my mind' }) }
    expect(await api.post(`approvals/${second}`, again)).toMatchObject({
      status: 409,
      body: { code: 'wrong_state' },
    })
    const { status, outcome, decided_at } = (await kept()) ?? {}
    expect(decided_at).toEqual(before?.decided_at)
    expect(status === 'rejected').toBe(first === 'reject')
    expect(JSON.stringify(outcome ?? null)).not.toContain('Changed my mind')
  })

  test('lets the mission that waited go on, also by a no', async () => {
    await api.ok('approvals/reject', { id, reason: 'Not now' })
    expect(await waitsFor()).toBeNull()
    expect(await kept()).toMatchObject({ status: 'rejected', outcome: { en: 'Not now' } })
  })

  test('twice at once counts once', async () => {
    const answers = await Promise.all([
      api.post('approvals/approve', { id, hash }),
      api.post('approvals/approve', { id, hash }),
      api.post('approvals/reject', { id }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  })
})

test('a decision wakes the missions, so that one that waited goes on at once', async () => {
  const wake = vi.spyOn(hub.deps.missions, 'wake')
  try {
    await api.ok('approvals/approve', { id, hash })
    expect(wake).toHaveBeenCalledTimes(1)
    const request = { kind: 'process' as const, title: verbatim('Other'), action }
    id = await everywhere(hub.deps.db, (sql) => propose(sql, { project_id, mission_id }, request))
    await api.ok('approvals/reject', { id })
    expect(wake).toHaveBeenCalledTimes(2)
  } finally {
    wake.mockRestore()
  }
})

describe('of two projects', () => {
  let other = ''
  beforeAll(async () => {
    const [project] = await hub.query<{ id: string }>(
      `insert into hub.projects (slug, name, created_at)
       values ('other', 'Other', now() + interval '1 day') returning id`,
    )
    other = project?.id ?? ''
  })
  afterAll(() => hub.query("delete from hub.projects where slug = 'other'"))

  test('approvals are listed newest first, by project and by status, 200 at most', async () => {
    await hub.query(
      `insert into hub.approvals (project_id, kind, title, action, action_hash, status, created_at)
       select $1, 'process', jsonb_build_object('en', n::text, 'tr', n::text), '{}', repeat('a', 64),
         case when n = 3 then 'rejected' else 'waiting' end, now() + make_interval(secs => n)
       from generate_series(1, 201) as n`,
      [other],
    )
    const titles = async (query: string) =>
      (await api.get(`approvals/list${query}`)).body.approvals.map(
        ({ title }: { title: string }) => title,
      )
    const newest = Array.from({ length: 200 }, (_, at) => `${201 - at}`)
    expect(await titles('?project=other')).toEqual(newest)
    expect((await titles('')).slice(0, 2)).toEqual(['201', '200'])
    expect(await titles('?project=other&status=rejected')).toEqual(['3'])
    expect(await titles('?project=demir&status=waiting')).toContain('Call before noon')
    expect(await titles('?project=demir')).not.toContain('201')
  })

  test('one beyond the license reads no page of the web, whoever approves it', async () => {
    const request = {
      kind: 'external' as const,
      title: verbatim('Read it'),
      action: { do: 'read_web' },
    }
    const of = { project_id: other, mission_id }
    id = await everywhere(hub.deps.db, (sql) => propose(sql, of, request))
    const shown = (await kept())?.action_hash
    expect((await api.post('approvals/approve', { id, hash: shown })).status).toBe(402)
    expect(await kept()).toMatchObject({ status: 'waiting' })
  })
})

describe('who may approve', () => {
  const asked = async (kind: 'external' | 'destructive' | 'process', what: string) => {
    const request = { kind, title: verbatim(what), action: { do: what } }
    id = await everywhere(hub.deps.db, (sql) => propose(sql, { project_id, mission_id }, request))
    return (await kept())?.action_hash
  }
  const approveAs = async (cookie: string, given: { id: string; hash: string }) => {
    const headers = { cookie, authorization: '', origin: 'http://localhost' }
    return (await hub.call('POST', 'approvals/approve', given, headers)).status
  }

  test.each(['read_web', 'search_web'])(
    '%s: a seller too; the mission itself does it, and says what came of it',
    async (what) => {
      const seller = await joinAs(hub, 'seller', `Seller ${what}`)
      const shown = await asked('external', what)
      expect(await approveAs(seller.cookie, { id, hash: shown })).toBe(200)
      expect(await kept()).toMatchObject({ status: 'approved', outcome: null })
    },
  )

  test.each([
    ['external', 'restart_hub'],
    ['external', 'pause_mail'],
    ['destructive', 'delete_old_backups'],
    ['process', 'note_process'],
  ] as const)('%s, %s: an admin alone', async (kind, what) => {
    const seller = await joinAs(hub, 'seller', `Seller ${what}`)
    const shown = await asked(kind, what)
    expect(await approveAs(seller.cookie, { id, hash: shown })).toBe(403)
    expect(await kept()).toMatchObject({ status: 'waiting' })
    await api.ok('approvals/reject', { id })
  })
})

describe('what was approved is carried out', () => {
  const lines: Record<string, unknown>[] = []
  const ran: string[] = []
  const actions = {
    run: {
      pause_mail: async () => {
        ran.push('pause_mail')
        return verbatim('Mail is paused.')
      },
      restart_hub: async () => {
        throw new WordsError(verbatim('Not now.'))
      },
    },
  } as never // safe: nothing else of it is asked for
  const given = () => ({
    db: hub.deps.db,
    paths: hub.paths,
    actions,
    log: (line: Record<string, unknown>) => void lines.push(line),
  })
  const approved = async (what: object, at = 'now()') => {
    await hub.query(
      `update hub.approvals set status = 'approved', action = $2, decided_at = ${at} where id = $1`,
      [id, JSON.stringify(what)],
    )
    return id
  }
  const outcome = async () => {
    const { status, outcome } = (await kept()) ?? {}
    return [status, outcome?.en ?? null]
  }
  beforeEach(async () => {
    lines.length = 0
    ran.length = 0
    await hub.query("update hub.approvals set status = 'rejected' where status = 'approved'")
  })

  test.each([
    [{ do: 'note_process' }, 'done', 'Noted.'],
    [{ do: 'pause_mail' }, 'done', 'Mail is paused.'],
    [{ do: 'read_web' }, 'approved', null],
    [{ do: 'search_web' }, 'approved', null],
    [
      { do: 'add_prompt_rule', agent: 'sales', rule: 'Ask for the fleet.' },
      'done',
      expect.stringMatching(/in this project from now on/),
    ],
    [
      { do: 'add_prompt_rule', for: 'hub', agent: 'sales', rule: 'Ask for the fleet.' },
      'done',
      expect.stringMatching(/^Added to the prompt/),
    ],
  ])('%j', async (what, status, said) => {
    await approved(what)
    await resumeApproved(given())
    expect(await outcome()).toEqual([status, said])
    expect(lines).toEqual([])
    expect(ran).toEqual(what.do === 'pause_mail' ? ['pause_mail'] : [])
    // What is done is not done again.
    await resumeApproved(given())
    expect(ran).toHaveLength(what.do === 'pause_mail' ? 1 : 0)
  })

  test.each([
    [{ do: 'restart_hub' }, 'Not now.'],
    [{ do: 'run_backup' }, 'This hub cannot do that.'],
    [{ do: 'format_disk' }, 'This hub cannot do that.'],
    [{ do: 'add_prompt_rule', agent: 'nobody', rule: 'x' }, 'This hub cannot do that.'],
    [{ do: 'add_prompt_rule', agent: 'sales', rule: '' }, 'This hub cannot do that.'],
    [{ do: 'add_prompt_rule', agent: 'sales', rule: 'x'.repeat(601) }, 'This hub cannot do that.'],
  ])('or has failed with its reason', async (what, said) => {
    await approved(what)
    await resumeApproved(given())
    expect(await outcome()).toEqual(['failed', said])
    expect(lines).toEqual([
      { msg: 'approved action failed', approval_id: id, error: expect.stringContaining('Error') },
    ])
  })
})

test('only a rule can be approved for all projects', async () => {
  const all = (of: string) => ({ id, hash: of, for_all_projects: true })
  expect(await api.post('approvals/approve', all(hash))).toMatchObject({
    status: 422,
    body: { errors: [{ path: 'for_all_projects', code: 'custom' }] },
  })
  expect(await kept()).toMatchObject({ status: 'waiting' })
})
