import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ApiActivity, AuditRow } from '../../../shared/schemas/audit.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const PATH = '/api/v1/audit'
const BEGIN = '00000000-0000-0000-0000-000000000000'
const Page = z.object({ audit: z.array(AuditRow), next_cursor: z.string().nullable() })
const OcsfPage = z.object({ audit: z.array(ApiActivity), next_cursor: z.string().nullable() })
const CHANNEL = {
  kind: 'webhook',
  target: 'https://hooks.example.com/in/s3cret-path',
  label: 'Ops',
}

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service.close())

async function list(person: Person, query = '') {
  return parsed(await service.request('GET', `${PATH}${query}`, person), 200, Page)
}

async function createChannel(person: Person, fields: object = {}) {
  const body = { ...CHANNEL, ...fields }
  const answer = await service.request('POST', '/api/v1/channels', { key: person.key, body })
  const { channel } = parsed(answer, 201, z.object({ channel: z.object({ id: z.uuid() }) }))
  return { id: channel.id, request_id: answer.headers.get('X-Request-Id') }
}

/** Makes what happened so far happen before the running minute, so that an exporter gets it. */
function age(person: Person) {
  return service.database.query(
    `update watchpost.audit set at = at - interval '2 minutes' where account_id = $1`,
    [person.user_id],
  )
}

describe('what is written', () => {
  test('an act stands there with who, how and from where, and without secrets', async () => {
    const person = await service.person()
    const body = { ...CHANNEL, config: { headers: { 'X-Token': 'hunter2' } } }
    const made = await service.request('POST', '/api/v1/channels', {
      key: person.key,
      body,
      headers: { 'User-Agent': 'terraform/1.9' },
    })
    const { audit } = await list(person)
    expect(audit[0]).toEqual({
      id: expect.any(String),
      at: expect.stringMatching(/Z$/),
      actor_id: person.user_id,
      key_id: expect.any(String),
      action: 'channel.created',
      target_type: 'channel',
      target_id: made.headers.get('Location')?.split('/').at(-1),
      outcome: 'success',
      ip: '192.0.2.1',
      user_agent: 'terraform/1.9',
      request_id: made.headers.get('X-Request-Id'),
      details: { label: 'Ops' },
    })
    const path = made.headers.get('Location') ?? ''
    await service.request('PATCH', path, {
      key: person.key,
      body: { target: 'https://x.example/k3y' },
      headers: { 'User-Agent': 'x'.repeat(301) },
    })
    expect((await list(person)).audit[0]?.user_agent).toBe('x'.repeat(300))
    await service.request('POST', `${path}/rotate-secret`, person)
    const { text } = await service.request('GET', PATH, person)
    expect(text).not.toMatch(/s3cret-path|hunter2|k3y|whsec_|eyJ/)
  })

  test('each act has its name', async () => {
    const person = await service.person()
    const { id } = await createChannel(person)
    const path = `/api/v1/channels/${id}`
    await service.request('PATCH', path, { key: person.key, body: { label: 'Other' } })
    await service.request('POST', `${path}/test`, person)
    await service.request('POST', `${path}/rotate-secret`, person)
    await service.request('DELETE', path, person)
    await service.request('POST', `${path}/restore`, person)
    const { audit } = await list(person)
    const acts = audit.filter(({ target_id }) => target_id === id).map(({ action }) => action)
    expect(acts.reverse()).toEqual([
      'channel.created',
      'channel.updated',
      'channel.tested',
      'channel.secret_rotated',
      'channel.deleted',
      'channel.restored',
    ])
  })

  test('what others do to the caller’s things is there, what they do to their own is not', async () => {
    const [owner, admin] = await Promise.all([service.person(), service.person()])
    const org = await service.organisation(owner, [admin, 'admin'])
    const { id } = await createChannel(owner, { org_id: org })
    const body = { label: 'By the admin' }
    await service.request('PATCH', `/api/v1/channels/${id}`, { key: admin.key, body })
    await createChannel(admin)
    const { audit } = await list(owner)
    const byAdmin = audit.filter(({ actor_id }) => actor_id === admin.user_id)
    expect(byAdmin).toMatchObject([{ action: 'channel.updated', target_id: id }])
    expect((await list(admin)).audit[1]).toMatchObject({ action: 'channel.updated', target_id: id })
  })

  test('an act that failed leaves nothing; refusals are counted by the minute', async () => {
    const account = await service.account()
    const person = { ...account, key: await service.key(account, { scopes: ['read'] }) }
    const body = CHANNEL
    for (const _ of [1, 2, 3]) {
      const refused = await service.request('POST', '/api/v1/channels', { key: person.key, body })
      expectProblem(refused, 403, 'insufficient_scope')
    }
    await expect
      .poll(async () => {
        const { audit } = await list(person)
        return audit
          .filter(({ action }) => action === 'request.refused')
          .reduce((sum, { details }) => sum + Number(details.count), 0)
      })
      .toBe(3)
    const { audit } = await list(person)
    expect(audit.find(({ action }) => action === 'request.refused')).toMatchObject({
      outcome: 'failure',
      target_type: 'route',
      target_id: 'POST /api/v1/channels',
      request_id: null,
      details: { code: 'insufficient_scope' },
    })
    expect(audit.map(({ action }) => action)).not.toContain('channel.created')
  })

  test('the dashboard’s and the CLI’s acts are there too', async () => {
    const person = await service.person()
    await service.database.query(
      `update watchpost.api_keys set revoked_at = now() where user_id = $1`,
      [person.user_id],
    )
    const { audit } = await list({ ...person, key: await service.key(person) })
    expect(audit.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['key.created', 'key.revoked', 'account.plan_changed']),
    )
    expect(audit.find(({ action }) => action === 'key.revoked')).toMatchObject({
      actor_id: null,
      details: { via: expect.any(String) },
    })
  })
})

describe('reading', () => {
  test('pages go from the newest to the oldest and miss nothing', async () => {
    const person = await service.person()
    for (const _ of [1, 2, 3]) await createChannel(person)
    const all = (await list(person)).audit
    const seen: string[] = []
    let query = '?limit=2'
    for (;;) {
      const { audit, next_cursor } = await list(person, query)
      seen.push(...audit.map(({ id }) => id))
      if (next_cursor === null) break
      query = `?limit=2&cursor=${next_cursor}`
    }
    expect(seen).toEqual(all.map(({ id }) => id))
    expect(all.length).toBeGreaterThan(4)
  })

  test('the window bounds it', async () => {
    const person = await service.person()
    await service.database.query(
      `update watchpost.audit set at = at - interval '40 days' where account_id = $1`,
      [person.user_id],
    )
    expect((await list(person)).audit).toEqual([])
    expect((await list(person, '?days=60')).audit).not.toEqual([])
    for (const query of ['?days=366', '?limit=1001', '?format=xml', '?after=x']) {
      expectProblem(await service.request('GET', `${PATH}${query}`, person), 400, 'invalid_query')
    }
  })

  test('nobody reads another account’s log', async () => {
    const [person, stranger] = await Promise.all([service.person(), service.person()])
    const { id } = await createChannel(person)
    await age(person)
    const [row] = (await list(person)).audit
    const { text } = await service.request('GET', `${PATH}?days=365`, stranger)
    expect(text).not.toContain(id)
    const after = await service.request('GET', `${PATH}?after=${row?.id}`, stranger)
    expectProblem(after, 400, 'invalid_cursor')
  })
})

describe('exporting', () => {
  /** All there is to export after this row, page by page. */
  async function drain(person: Person, begin = BEGIN) {
    const rows: z.infer<typeof AuditRow>[] = []
    let after: string | null = begin
    while (after !== null) {
      const page: z.infer<typeof Page> = await list(person, `?limit=2&after=${after}`)
      rows.push(...page.audit)
      after = page.next_cursor
    }
    return rows
  }

  /** Waits for so many: a transaction in any other database holds an export back for a moment. */
  async function drained(person: Person, count: number, begin = BEGIN) {
    const exported = async () => (await drain(person, begin)).length
    await expect.poll(exported).toBe(count)
    return drain(person, begin)
  }

  test('an exporter gets every row once, the oldest first, and comes back for more', async () => {
    const person = await service.person()
    for (const _ of [1, 2, 3]) await createChannel(person)
    await age(person)
    const all = (await list(person)).audit.map(({ id }) => id)
    const seen = (await drained(person, all.length)).map(({ id }) => id)
    expect([...seen].sort()).toEqual([...all].sort())
    const last = seen.at(-1)
    const { id } = await createChannel(person)
    expect(await list(person, `?after=${last}`)).toEqual({ audit: [], next_cursor: null })
    await age(person)
    expect(await drained(person, 1, last)).toMatchObject([
      { action: 'channel.created', target_id: id },
    ])
  })

  test('it goes on from an old row, whatever the window', async () => {
    const person = await service.person()
    await createChannel(person)
    await age(person)
    const [first, ...rest] = await drained(person, (await list(person)).audit.length)
    await service.database.query(
      `update watchpost.audit set at = at - interval '40 days' where account_id = $1`,
      [person.user_id],
    )
    expect(await drained(person, rest.length, first?.id)).toEqual(
      rest.map((row) => ({ ...row, at: expect.any(String) })),
    )
    expect(await drain(person)).toEqual([])
  })

  test('a transaction that commits late is not skipped', async () => {
    const person = await service.person()
    await age(person)
    const last = (await drained(person, (await list(person)).audit.length)).at(-1)?.id
    // Begins before, ends after what follows: until then the exporter is told nothing newer.
    const late = await service.transaction()
    await late.query(`update watchpost.accounts set plan = 'enterprise' where user_id = $1`, [
      person.user_id,
    ])
    await createChannel(person)
    await age(person)
    expect(await drain(person, last)).toEqual([])
    await late.commit()
    await age(person)
    expect((await drained(person, 2, last)).map(({ action }) => action)).toEqual([
      'account.plan_changed',
      'channel.created',
    ])
  })

  test('paging and exporting at once is 400', async () => {
    const person = await service.person()
    const query = `?after=${BEGIN}&cursor=x`
    expectProblem(await service.request('GET', `${PATH}${query}`, person), 400, 'invalid_query')
  })
})

describe('format=ocsf', () => {
  test('an act is an API Activity of OCSF 1.3', async () => {
    const person = await service.person()
    const { id, request_id } = await createChannel(person)
    const [row] = (await list(person)).audit
    const answer = await service.request('GET', `${PATH}?format=ocsf`, person)
    const { audit } = parsed(answer, 200, OcsfPage)
    expect(audit[0]).toEqual({
      category_uid: 6,
      category_name: 'Application Activity',
      class_uid: 6003,
      class_name: 'API Activity',
      activity_id: 1,
      activity_name: 'Create',
      type_uid: 600301,
      type_name: 'API Activity: Create',
      severity_id: 1,
      severity: 'Informational',
      status_id: 1,
      status: 'Success',
      time: Date.parse(row?.at ?? ''),
      message: `channel.created channel ${id}`,
      metadata: {
        version: '1.3.0',
        product: { name: 'Watchpost', vendor_name: 'Watchpost', version: expect.any(String) },
        uid: row?.id,
        event_code: 'channel.created',
        log_name: 'audit',
        correlation_uid: request_id,
      },
      actor: { user: { uid: person.user_id, type_id: 1, credential_uid: row?.key_id } },
      api: {
        operation: 'channel.created',
        version: 'v1',
        service: { name: 'Watchpost' },
        request: { uid: request_id },
      },
      src_endpoint: { ip: '192.0.2.1' },
      resources: [{ type: 'channel', uid: id, name: id }],
      unmapped: { label: 'Ops' },
    })
    // What the class requires is there for acts from inside, too.
    for (const act of audit) {
      expect(act.type_uid).toBe(600300 + act.activity_id)
      expect(Object.keys(act.actor)).not.toEqual([])
      expect(Object.keys(act.src_endpoint)).not.toEqual([])
    }
  })
})
