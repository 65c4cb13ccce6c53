import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BASE } from '../../../hub/app.ts'
import { VERSION } from '../../../shared/version.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { joinAs, keyWith } from '../support/members.ts'
import { makeProject } from '../support/mission-help.ts'

let hub: TestHub
const keys: Record<string, string> = {}
beforeAll(async () => {
  hub = await startHub()
  await makeProject(hub)
  for (const scope of ['read', 'propose', 'admin'] as const) keys[scope] = await keyWith(hub, scope)
})
afterAll(() => hub.close())

const headersOf = (key: string | undefined) => ({
  authorization: `Bearer ${key}`,
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-06-18',
})
async function speak(key: string | undefined, method: string, params = {}, more = {}) {
  const message = { jsonrpc: '2.0', id: 1, method, params }
  const answer = await hub.call('POST', 'mcp', message, { ...headersOf(key), ...more })
  return { status: answer.status, body: await answer.json() }
}
const tools = async (scope: string): Promise<string[]> => {
  const { body } = await speak(keys[scope], 'tools/list')
  return body.result.tools.map(({ name }: { name: string }) => name)
}
const use = async (scope: string, name: string, args: object) => {
  const { body } = await speak(keys[scope], 'tools/call', { name, arguments: args })
  const text = body.result.content[0].text
  return {
    isError: body.result.isError === true,
    text,
    value: text.startsWith('{') ? JSON.parse(text) : null,
  }
}

const PROPOSALS = ['create_lead', 'add_note', 'create_draft', 'compose_mission']

describe('a key', () => {
  const make = async (body: object) => {
    const answer = await hub.call('POST', 'settings/keys', { scope: 'read', ...body })
    return { status: answer.status, body: await answer.json() }
  }
  const works = async (secret: string) =>
    (await hub.call('GET', 'projects/list', undefined, { authorization: `Bearer ${secret}` }))
      .status === 200

  test('works until it expires or is revoked, and is listed without its secret', async () => {
    const past = { name: 'Late', expires_at: new Date(Date.now() - 1000).toISOString() }
    expect(await make(past)).toMatchObject({ status: 422, body: { errors: [{ code: 'past' }] } })
    const soon = { name: ' Script ', expires_at: new Date(Date.now() + 60_000).toISOString() }
    const { key, secret } = (await make(soon)).body
    expect(key).toMatchObject({ ...soon, name: 'Script', hint: secret.slice(-4), revoked_at: null })
    expect(await works(secret)).toBe(true)
    await hub.query('update hub.api_keys set expires_at = now() where id = $1', [key.id])
    expect(await works(secret)).toBe(false)
    await hub.query('update hub.api_keys set expires_at = null where id = $1', [key.id])
    expect(await works(secret)).toBe(true)
    const revoked = await hub.call('POST', 'settings/keys/revoke', { id: key.id })
    expect((await revoked.json()).key.revoked_at).not.toBeNull()
    expect(await works(secret)).toBe(false)
    expect((await hub.call('POST', 'settings/keys/revoke', { id: key.id })).status).toBe(404)
    const listed = await (await hub.call('GET', 'settings/keys')).text()
    expect(JSON.parse(listed).keys.at(-1).id).toBe(key.id)
    expect(listed).not.toContain(secret)
  })

  test('says when it was last used, written once a minute', async () => {
    const { key, secret } = (await make({ name: 'Busy' })).body
    const used = async (seconds_ago: number | null) => {
      await hub.query(
        'update hub.api_keys set last_used_at = now() - make_interval(secs => $2) where id = $1',
        [key.id, seconds_ago],
      )
      expect(await works(secret)).toBe(true)
      const [row] = await hub.query<{ ago: number }>(
        'select extract(epoch from now() - last_used_at)::float as ago from hub.api_keys where id = $1',
        [key.id],
      )
      return (row?.ago ?? 100) < 20
    }
    expect([await used(null), await used(30), await used(61)]).toEqual([true, false, true])
  })

  test('is one of 100 at most, without those that were revoked', async () => {
    await hub.query(`
      insert into hub.api_keys (name, scope, key_hash, hint)
      select 'many', 'read', encode(sha256(n::text::bytea), 'hex'), 'many'
      from generate_series(1, 99 - (
        select count(*)::int from hub.api_keys where revoked_at is null)) as n`)
    expect((await make({ name: 'The hundredth' })).status).toBe(201)
    expect((await make({ name: 'One more' })).status).toBe(409)
    await hub.query("delete from hub.api_keys where name = 'many'")
    expect((await make({ name: 'One more' })).status).toBe(201)
  })
})

describe('a model client', () => {
  test('sees tools that read, and those that propose only with such a key', async () => {
    const read = await tools('read')
    expect(read.length).toBeGreaterThan(8)
    expect(read.filter((name) => PROPOSALS.includes(name))).toEqual([])
    expect((await tools('propose')).filter((name) => PROPOSALS.includes(name))).toEqual(PROPOSALS)
    for (const name of await tools('admin')) {
      expect(name).not.toMatch(/approve|send|delete|erase|push|setting|member|key|webhook/)
    }
  })

  test('proposes a lead, a note, a draft and a mission, which stand under the name of the key', async () => {
    const lead = await use('propose', 'create_lead', { project: 'rota', name: 'From a model' })
    expect(lead.isError).toBe(false)
    const lead_id = lead.value.lead.id
    expect((await use('propose', 'add_note', { lead_id, text: 'A note' })).isError).toBe(false)
    const draft = await use('propose', 'create_draft', {
      project: 'rota',
      lead_id,
      language: 'tr',
      subject: 'Hello',
      text: 'Hello there.',
    })
    expect(draft.value.draft).toMatchObject({ state: 'draft', subject: 'Hello', language: 'tr' })
    const mission = await use('propose', 'compose_mission', {
      project: 'rota',
      task: 'How many leads are in each stage?',
    })
    // Nobody named an agent: the task itself says which.
    expect(mission.value.mission).toMatchObject({ status: 'queued', department: 'data' })
    await use('propose', 'compose_mission', { project: 'rota', task: 'How many drafts are there?' })
    const missions = await use('read', 'list_missions', { project: 'rota', limit: 1 })
    expect(missions.value.missions).toHaveLength(1)
    const { value } = await use('read', 'get_timeline', { lead_id })
    expect(value.activities.every(({ by }: { by: string }) => by === 'propose')).toBe(true)
    for (const [name, args] of [
      ['list_projects', {}],
      ['list_leads', { project: 'rota' }],
      ['get_lead', { lead_id }],
      ['list_drafts', { project: 'rota' }],
      ['get_draft', { project: 'rota', id: draft.value.draft.id }],
      ['list_missions', { project: 'rota' }],
      ['get_mission', { id: mission.value.mission.id }],
      ['search', { q: 'model' }],
      ['get_numbers', { project: 'rota' }],
    ] as const) {
      const { isError, text } = await use('read', name, args)
      expect([name, isError, isError ? text : '']).toEqual([name, false, ''])
    }
  })

  test('is told why something is refused', async () => {
    const { isError, value } = await use('read', 'get_numbers', { project: 'nobody' })
    expect(isError).toBe(true)
    expect(value).toMatchObject({ status: 404, detail: expect.stringContaining('nobody') })
    const turkish = await speak(
      keys.read,
      'tools/call',
      { name: 'get_numbers', arguments: { project: 'nobody' } },
      { 'accept-language': 'tr' },
    )
    const told = JSON.parse(turkish.body.result.content[0].text)
    expect(told).toMatchObject({ status: 404, detail: expect.stringContaining('Bulunamadı') })
  })

  test('knows which tools only read, and is told what texts are', async () => {
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    }
    const { body } = await speak(keys.read, 'initialize', params)
    expect(body.result.serverInfo).toEqual({
      name: 'watchpost-hub',
      title: 'Watchpost Hub',
      version: VERSION,
    })
    expect(body.result.instructions).toMatch(/A person approves and sends.*never instructions/)
    const listed = await speak(keys.admin, 'tools/list')
    for (const { name, title, description, annotations } of listed.body.result.tools) {
      expect([title, description], name).toEqual([
        expect.stringMatching(/^[A-Z][\w -]+$/),
        expect.stringMatching(/^[A-Z].+\.$/s),
      ])
      expect(annotations, name).toMatchObject({
        readOnlyHint: !PROPOSALS.includes(name),
        destructiveHint: false,
        openWorldHint: false,
      })
    }
  })

  test('cannot propose with a key that reads, and proposes with one that may write', async () => {
    const count = async () => (await hub.query('select from hub.leads')).length
    const before = await count()
    const args = { project: 'rota', name: 'Not allowed' }
    const { body } = await speak(keys.read, 'tools/call', { name: 'create_lead', arguments: args })
    expect(body.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('create_lead') }],
    })
    expect(await count()).toBe(before)
    expect((await tools('admin')).filter((name) => PROPOSALS.includes(name))).toEqual(PROPOSALS)
  })

  test('is refused an argument that no tool has, and nothing is done', async () => {
    const [{ id } = { id: '' }] = await hub.query<{ id: string }>('select id from hub.leads')
    const project = 'rota'
    const mail = { project, lead_id: id, subject: 'Odd', text: 'Odd.' }
    const named: Record<string, object> = {
      list_projects: {},
      list_leads: { project },
      get_lead: { lead_id: id },
      get_timeline: { lead_id: id },
      list_drafts: { project },
      get_draft: { project, id },
      list_missions: { project },
      get_mission: { id },
      search: { q: 'x' },
      get_numbers: { project },
      create_lead: { project, name: 'Odd' },
      add_note: { lead_id: id, text: 'Odd' },
      create_draft: mail,
      compose_mission: { project, task: 'Odd' },
    }
    expect(Object.keys(named)).toEqual(await tools('propose'))
    for (const [name, args] of Object.entries(named)) {
      const { isError, text } = await use('propose', name, { ...args, send_now: true })
      expect([name, isError, text]).toEqual([name, true, expect.stringContaining('send_now')])
    }
    const odd = await hub.query(`
      select name as text from hub.leads where name = 'Odd'
      union all select text from hub.notes where text = 'Odd'
      union all select subject from hub.drafts where subject = 'Odd'
      union all select task from hub.missions where task = 'Odd'`)
    expect(odd).toEqual([])
  })

  test('gets what its arguments ask for: words, a stage, a limit and the next page', async () => {
    const lead = async (more: object) =>
      (await use('propose', 'create_lead', { project: 'rota', ...more })).value.lead
    const one = await lead({ name: 'Zeliha Uzun', company: 'Uzun A.Ş.', tags: ['fair'] })
    expect(one).toMatchObject({ company: 'Uzun A.Ş.', tags: ['fair'] })
    await lead({ name: 'Zeliha Kısa', stage: 'meeting' })
    const list = async (args: object) => {
      const { value } = await use('read', 'list_leads', { project: 'rota', ...args })
      return { names: value.leads.map(({ name }: { name: string }) => name), ...value }
    }
    expect((await list({ q: 'Uzun' })).names).toEqual(['Zeliha Uzun'])
    expect((await list({ stage: 'meeting' })).names).toEqual(['Zeliha Kısa'])
    const first = await list({ q: 'Zeliha', limit: 1 })
    const second = await list({ q: 'Zeliha', limit: 1, cursor: first.next_cursor })
    expect([...first.names, ...second.names]).toEqual(['Zeliha Kısa', 'Zeliha Uzun'])
    for (const limit of [0, 101, 1.5]) {
      const { isError, text } = await use('read', 'list_leads', { project: 'rota', limit })
      expect([isError, text]).toEqual([true, expect.stringContaining('limit')])
    }
    const mail = { project: 'rota', lead_id: one.id, subject: 'To one', text: 'Good day.' }
    const { draft } = (await use('propose', 'create_draft', mail)).value
    expect(draft.audience).toEqual({ kind: 'lead', lead_id: one.id })
  })

  test('acts from the address of its client, also behind the proxy', async () => {
    const before = hub.deps.proxy_secret
    Object.assign(hub.deps, { proxy_secret: 'secret of the proxy' })
    try {
      const params = { name: 'create_lead', arguments: { project: 'rota', name: 'From afar' } }
      const answer = await hub.app.request(
        `${BASE}/mcp`,
        {
          method: 'POST',
          headers: {
            ...headersOf(keys.propose),
            host: 'localhost',
            'content-type': 'application/json',
            'x-real-ip': '203.0.113.9',
            'x-watchpost-proxy': 'secret of the proxy',
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
        },
        { incoming: { socket: { remoteAddress: '127.0.0.1' } } },
      )
      expect((await answer.json()).result.isError).toBe(false)
      const [act] = await hub.query(
        "select actor ->> 'name' as by, address from hub.audit order by at desc limit 1",
      )
      expect(act).toEqual({ by: 'propose', address: '203.0.113.9' })
    } finally {
      Object.assign(hub.deps, { proxy_secret: before })
    }
  })

  test('says at most 20 things at once', async () => {
    const many = (count: number) =>
      hub.call(
        'POST',
        'mcp',
        Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })),
        headersOf(keys.read),
      )
    expect((await many(20)).status).toBe(200)
    for (const [count, told] of [
      [21, 'an array of 1 to 20'],
      [0, 'empty'],
    ] as const) {
      const refused = await many(count)
      expect(refused.status).toBe(422)
      expect(refused.headers.get('content-type')).toBe('application/problem+json')
      expect((await refused.json()).errors[0].message).toContain(told)
    }
  })

  test('can do nothing else with its key at the API itself', async () => {
    const headers = { authorization: `Bearer ${keys.propose}` }
    for (const path of ['draft/approve', 'draft/send', 'lead/delete', 'approvals/approve']) {
      expect((await hub.call('POST', path, {}, headers)).status, path).toBe(403)
    }
  })

  test('needs a key: a session in a browser is refused, and no key is 401', async () => {
    const { cookie } = await joinAs(hub, 'admin')
    const answer = await hub.app.request(`${BASE}/mcp`, {
      method: 'POST',
      headers: { host: 'localhost', cookie, 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    })
    expect(answer.status).toBe(403)
    expect((await speak('wph_key_x', 'ping')).status).toBe(401)
  })
})
