import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Channel } from '../../../shared/schemas/channel.ts'
import { createService, type Person, parsed, type Service } from '../../support/service.ts'

const PATH = '/api/v1/channels'
const TARGET = 'https://hooks.example.com/in/s3cret-path'
const One = z.object({ channel: Channel })

let service: Service
beforeAll(async () => {
  service = await createService()
})
afterAll(() => service.close())

async function create(owner: Person, fields: Record<string, unknown> = {}) {
  const body = { kind: 'webhook', target: TARGET, ...fields }
  return parsed(await service.request('POST', PATH, { key: owner.key, body }), 201, One).channel
}

async function get(person: Person, id: string) {
  return parsed(await service.request('GET', `${PATH}/${id}`, person), 200, One).channel
}

/** An organisation with one of each role, and a stranger. */
async function team() {
  const [owner, admin, member, stranger] = await Promise.all([
    service.person(),
    service.person(),
    service.person(),
    service.person(),
  ])
  const org = await service.organisation(owner, [admin, 'admin'], [member, 'member'])
  return { owner, admin, member, stranger, org }
}

describe('creating a channel', () => {
  test('a kind that this service has no way to send by is refused with the way out', async () => {
    const { key } = await service.person()
    const body = { kind: 'mqtt', target: 'mqtts://broker.example.com/alerts' }
    const answer = await service.request('POST', PATH, { key, body })
    expect(answer).toMatchObject({
      status: 422,
      body: {
        errors: [
          {
            path: 'kind',
            code: 'unavailable_kind',
            message: expect.stringContaining('run Watchpost on Node'),
          },
        ],
      },
    })
  })

  test('a new channel is answered whole, with its secret, at an address that can be read', async () => {
    const owner = await service.person()
    const answer = await service.request('POST', PATH, {
      key: owner.key,
      body: {
        kind: 'webhook',
        target: TARGET,
        label: 'On call',
        config: { headers: { 'X-A': 'b' } },
      },
    })
    const { channel } = parsed(answer, 201, One)
    expect(channel).toMatchObject({
      kind: 'webhook',
      target: TARGET,
      label: 'On call',
      config: { headers: { 'X-A': 'b' } },
      org_id: null,
      owner_id: owner.user_id,
      enabled: true,
      status: 'ok',
      disabled_reason: null,
    })
    expect(channel.signing_secret).toMatch(/^whsec_/)
    expect(answer.headers.get('Location')).toBe(`${PATH}/${channel.id}`)
    expect(await get(owner, channel.id)).toEqual({ ...channel, signing_secret: null })
  })

  test('a signing secret may be brought along', async () => {
    const signing_secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
    const channel = await create(await service.person(), { signing_secret })
    expect(channel.signing_secret).toBe(signing_secret)
  })

  test('messages are English and tell times in UTC, unless the channel says otherwise', async () => {
    const owner = await service.person()
    const { id, ...plain } = await create(owner)
    expect(plain).toMatchObject({ language: 'en', time_zone: 'UTC' })
    const turkish = { language: 'tr', time_zone: 'Europe/Istanbul' }
    expect(await create(owner, turkish)).toMatchObject(turkish)
    const options = { key: owner.key, body: { time_zone: 'America/New_York' } }
    expect((await service.request('PATCH', `${PATH}/${id}`, options)).status).toBe(200)
    const body = { language: 'tr' }
    await service.request('PATCH', `${PATH}/${id}`, { key: owner.key, body })
    expect(await get(owner, id)).toMatchObject({ language: 'tr', time_zone: 'America/New_York' })
  })

  test('nothing secret is stored in the clear', async () => {
    const owner = await service.person()
    const channel = await create(owner, { config: { headers: { Authorization: 'token-123' } } })
    const [row] = await service.database.query('select * from watchpost.channels where id = $1', [
      channel.id,
    ])
    const stored = JSON.stringify(row)
    expect(stored).not.toContain('s3cret-path')
    expect(stored).not.toContain('token-123')
    expect(stored).not.toContain(channel.signing_secret)
    expect(row).toMatchObject({
      target_masked: 'https://hooks.example.com/…',
      config_masked: { headers: { Authorization: '…' } },
    })
  })

  test.each([
    ['an unknown field', { tarket: 'x' }, 'tarket', 'unknown_field'],
    ['an unknown kind', { kind: 'pigeon' }, 'kind', 'unavailable_kind'],
    ['a private address', { target: 'https://10.0.0.1/' }, 'target', 'private_address'],
    ['plain http', { target: 'http://example.com/' }, 'target', 'plain_http'],
    ['an unknown setting', { config: { retries: 3 } }, 'config', 'unrecognized_keys'],
    ['a short secret', { signing_secret: 'whsec_c2hvcnQ=' }, 'signing_secret', 'malformed'],
    ['a language that is not spoken', { language: 'de' }, 'language', 'invalid_value'],
    ['an offset as time zone', { time_zone: '+03:00' }, 'time_zone', 'custom'],
    ['a blank label', { label: ' ' }, 'label', 'invalid_format'],
    ['an organisation that is none', { org_id: 'team' }, 'org_id', 'invalid_format'],
  ])('answers 422 and names the mistake: %s', async (_, fields, path, code) => {
    const owner = await service.person()
    const body = { kind: 'webhook', target: TARGET, ...fields }
    const answer = await service.request('POST', PATH, { key: owner.key, body })
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ code: 'invalid', errors: [{ path, code }] })
    expect(answer.text).not.toContain('c2hvcnQ=')
  })

  test('a channel over the limit of the plan is 409, deleted ones do not count', async () => {
    const owner = await service.person()
    await service.database.query(
      `insert into watchpost.channels (owner_id, kind, target_sealed, target_masked)
      select $1, 'webhook', 'x', 'x' from generate_series(1, 49)`,
      [owner.user_id],
    )
    const last = await create(owner)
    const body = { kind: 'webhook', target: TARGET }
    const refused = await service.request('POST', PATH, { key: owner.key, body })
    expect(refused.status).toBe(409)
    expect(refused.body).toMatchObject({ code: 'limit_reached' })
    await service.request('DELETE', `${PATH}/${last.id}`, owner)
    await create(owner)
    const restored = await service.request('POST', `${PATH}/${last.id}/restore`, owner)
    expect(restored.status).toBe(409)
  })
})

describe('sharing a channel with an organisation', () => {
  test('an admin and the owner may, a plain member is 403, a stranger 422', async () => {
    const { owner, admin, member, stranger, org } = await team()
    expect((await create(owner, { org_id: org })).org_id).toBe(org)
    expect((await create(admin, { org_id: org })).org_id).toBe(org)
    const body = { kind: 'webhook', target: TARGET, org_id: org }
    const refused = await service.request('POST', PATH, { key: member.key, body })
    expect(refused.status).toBe(403)
    expect(refused.body).toMatchObject({ code: 'forbidden' })
    const unknown = await service.request('POST', PATH, { key: stranger.key, body })
    expect(unknown.status).toBe(422)
    expect(unknown.body).toMatchObject({
      errors: [{ path: 'org_id', code: 'unknown_organisation' }],
    })
  })

  test('a plain member sees a shared channel masked, an admin of the organisation whole', async () => {
    const { owner, admin, member, org } = await team()
    const config = { headers: { 'X-Token': 'abc' } }
    const { id } = await create(owner, { org_id: org, config })
    expect(await get(admin, id)).toMatchObject({ target: TARGET, config })
    expect(await get(member, id)).toMatchObject({
      target: 'https://hooks.example.com/…',
      config: { headers: { 'X-Token': '…' } },
      signing_secret: null,
    })
    const list = await service.request('GET', PATH, member)
    expect(list.status).toBe(200)
    expect(list.text).toContain(id)
    expect(list.text).not.toContain('s3cret-path')
    expect(list.text).not.toContain('"abc"')
  })

  test('only its owner shares or unshares it', async () => {
    const { owner, admin, org } = await team()
    const { id } = await create(owner, { org_id: org })
    const body = { org_id: null }
    const refused = await service.request('PATCH', `${PATH}/${id}`, { key: admin.key, body })
    expect(refused.status).toBe(403)
    expect((await get(owner, id)).org_id).toBe(org)
    const done = await service.request('PATCH', `${PATH}/${id}`, { key: owner.key, body })
    expect(parsed(done, 200, One).channel.org_id).toBeNull()
    expect((await service.request('GET', `${PATH}/${id}`, admin)).status).toBe(404)
  })

  test('an admin changes a shared channel; a plain member may not, and nothing changes', async () => {
    const { owner, admin, member, org } = await team()
    const { id } = await create(owner, { org_id: org, label: 'before' })
    for (const [method, path, body] of [
      ['PATCH', '', { label: 'member' }],
      ['DELETE', '', undefined],
      ['POST', '/restore', undefined],
      ['POST', '/test', undefined],
      ['POST', '/rotate-secret', undefined],
    ] as const) {
      const refused = await service.request(method, `${PATH}/${id}${path}`, {
        key: member.key,
        body,
      })
      expect([method, path, refused.status]).toEqual([method, path, 403])
    }
    expect((await get(owner, id)).label).toBe('before')
    expect(service.receiver.requests).toEqual([])
    const body = { label: 'admin' }
    const done = await service.request('PATCH', `${PATH}/${id}`, { key: admin.key, body })
    expect(parsed(done, 200, One).channel.label).toBe('admin')
  })

  test('an UPDATE or DELETE that bypasses the routes changes no row', async () => {
    const { owner, stranger, member, org } = await team()
    const { id } = await create(owner, { org_id: org, label: 'mine' })
    for (const person of [stranger, member]) {
      await service.request('DELETE', `${PATH}/${id}`, person)
      await service.request('PATCH', `${PATH}/${id}`, { key: person.key, body: { enabled: false } })
    }
    expect(await get(owner, id)).toMatchObject({ label: 'mine', enabled: true })
  })
})

/** The ids of the channels that somebody sees, one a page. */
async function listed(who: Person): Promise<string[]> {
  const List = z.object({ channels: z.array(Channel), next_cursor: z.string().nullable() })
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`
    const answer = await service.request('GET', `${PATH}?limit=1${query}`, who)
    const page = parsed(answer, 200, List)
    seen.push(...page.channels.map(({ id }) => id))
    cursor = page.next_cursor
  }
  return seen
}

describe('listing channels', () => {
  test('lists own and shared channels only, newest first, page by page', async () => {
    const { owner, admin, stranger, org } = await team()
    const made = [
      await create(admin),
      await create(owner, { org_id: org }),
      await create(admin),
    ].map(({ id }) => id)
    await create(owner)
    await create(stranger)
    expect(await listed(admin)).toEqual(made.reverse())

    // Those of one moment come once each, too, in the order of their ids.
    await service.database.query(
      `update watchpost.channels set created_at = '2026-01-01T00:00:00Z' where id = any($1)`,
      [made],
    )
    expect(await listed(admin)).toEqual(made.toSorted().reverse())
  })
})

describe('changing a channel', () => {
  test('leaves absent fields unchanged and clears those that are null', async () => {
    const owner = await service.person()
    const config = { headers: { 'X-A': 'b' } }
    const before = await create(owner, { label: 'Label', config })
    const path = `${PATH}/${before.id}`
    const target = 'https://other.example.com/in'
    const moved = parsed(
      await service.request('PATCH', path, { key: owner.key, body: { target } }),
      200,
      One,
    ).channel
    expect(moved).toEqual({
      ...before,
      target,
      signing_secret: null,
      updated_at: moved.updated_at,
    })
    const body = { label: null, config: null }
    const cleared = await service.request('PATCH', path, { key: owner.key, body })
    expect(parsed(cleared, 200, One).channel).toMatchObject({ label: null, config: null, target })
  })

  test('kind and secret cannot be patched, and a bad target stays out', async () => {
    const owner = await service.person()
    const { id } = await create(owner)
    for (const body of [
      { kind: 'slack' },
      { signing_secret: 'x' },
      { target: 'ftp://x.example' },
    ]) {
      const answer = await service.request('PATCH', `${PATH}/${id}`, { key: owner.key, body })
      expect(answer.status).toBe(422)
    }
    expect((await get(owner, id)).target).toBe(TARGET)
  })

  test('says that it is switched off; switching it on clears its failures', async () => {
    const owner = await service.person()
    const { id } = await create(owner)
    const patch = async (body: unknown) =>
      parsed(await service.request('PATCH', `${PATH}/${id}`, { key: owner.key, body }), 200, One)
        .channel
    expect(await patch({ enabled: false })).toMatchObject({
      enabled: false,
      status: 'disabled',
      disabled_reason: 'It was switched off.',
    })
    await service.database.query(
      `update watchpost.channels set disabled_reason = 'The receiver answered HTTP 410.', failures = 9,
        paused_until = now() + interval '1 hour' where id = $1`,
      [id],
    )
    expect(await patch({ label: 'x' })).toMatchObject({
      status: 'disabled',
      disabled_reason: 'The receiver answered HTTP 410.',
    })
    expect(await patch({ enabled: true })).toMatchObject({
      enabled: true,
      status: 'ok',
      disabled_reason: null,
    })
    const [row] = await service.database.query(
      'select failures, paused_until from watchpost.channels where id = $1',
      [id],
    )
    expect(row).toEqual({ failures: 0, paused_until: null })
  })
})

describe('deleting a channel', () => {
  test('hides it at once, and it can be restored for 30 days', async () => {
    const owner = await service.person()
    const { id } = await create(owner)
    const path = `${PATH}/${id}`
    const gone = await service.request('DELETE', path, owner)
    expect([gone.status, gone.text]).toEqual([204, ''])
    expect((await service.request('GET', path, owner)).status).toBe(404)
    expect((await service.request('DELETE', path, owner)).status).toBe(404)
    expect((await service.request('GET', PATH, owner)).body).toMatchObject({ channels: [] })
    const back = await service.request('POST', `${path}/restore`, owner)
    expect(parsed(back, 200, One).channel.id).toBe(id)
    expect((await get(owner, id)).target).toBe(TARGET)
  })

  test.each([
    ['29 days 23:59', 200],
    ['30 days', 404],
  ])('%s later its restoring is %i', async (age, status) => {
    const owner = await service.person()
    const { id } = await create(owner)
    await service.request('DELETE', `${PATH}/${id}`, owner)
    await service.database.query(
      `update watchpost.channels set deleted_at = now() - $2::interval where id = $1`,
      [id, age],
    )
    expect((await service.request('POST', `${PATH}/${id}/restore`, owner)).status).toBe(status)
  })
})
