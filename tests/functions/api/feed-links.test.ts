import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { FeedLink, ShownFeedLink } from '../../../shared/schemas/feed-link.ts'
import { generateToken } from '../../../shared/token.ts'
import { expectProblem } from '../../support/attacks/refusals.ts'
import { runtime } from '../../support/servers/runtimes.ts'
import { createService, type Person, parsed } from '../../support/service.ts'
import {
  alertOf,
  linkOf,
  Made,
  owner,
  read,
  service,
  useService,
  zone,
  zoneOf,
} from './feed-links-scene.ts'

useService()

/** Every request that one's zone and one of its links take. */
const asksOf = (zone_id: string, id: string) => {
  const base = `/api/v1/zones/${zone_id}/feed-links`
  return [
    ['GET', base],
    ['POST', base, {}],
    ['GET', `${base}/${id}`],
    ['POST', `${base}/${id}/rotate`],
    ['DELETE', `${base}/${id}`],
  ] as const
}

describe('a link', () => {
  test('is shown once, and only its hash is stored', async () => {
    const { id, urls, location, address } = await linkOf(owner, zone, { label: 'Calendar' })
    expect(location).toBe(`/api/v1/zones/${zone}/feed-links/${id}`)
    expect(Object.keys(urls)).toEqual(['atom', 'geojson', 'ics'])
    const token = address('atom').split('/').at(-1)?.replace('.atom', '') ?? ''
    expect(token).toMatch(/^[\w-]{43}$/)
    const [stored] = await service.database.query(
      'select * from watchpost.feed_links where id = $1',
      [id],
    )
    expect(JSON.stringify(stored)).not.toContain(token)
    const expected = {
      id,
      zone_id: zone,
      owner_id: owner.user_id,
      label: 'Calendar',
      rotated_at: null,
    }
    const one = await service.request('GET', location ?? '', { key: owner.key })
    expect(parsed(one, 200, z.object({ feed_link: FeedLink.strict() })).feed_link).toMatchObject(
      expected,
    )
    const all = await service.request('GET', `/api/v1/zones/${zone}/feed-links`, { key: owner.key })
    const { feed_links } = parsed(all, 200, z.object({ feed_links: z.array(FeedLink.strict()) }))
    expect(feed_links).toMatchObject([expected])
    expect(`${one.text}${all.text}`).not.toContain(token)
    expect(JSON.stringify(service.lines)).not.toContain(token)
    await read(address('atom'))
    await service.request('POST', address('atom'), {})
    expect(service.lines.at(-1)).toMatchObject({ path: '/api/v1/feeds/…' })
    expect(JSON.stringify(service.lines)).not.toContain(token)
  })

  test('is listed with the others of its zone alone, newest first', async () => {
    await linkOf(owner, await zoneOf(owner))
    const ids: string[] = []
    for (const label of ['1', '2', '3']) ids.unshift((await linkOf(owner, zone, { label })).id)
    const all = await service.request('GET', `/api/v1/zones/${zone}/feed-links`, { key: owner.key })
    const { feed_links } = parsed(all, 200, z.object({ feed_links: z.array(FeedLink) }))
    expect(feed_links.map(({ id }) => id)).toEqual(ids)
  })

  test('is made once per Idempotency-Key, and its addresses are not shown again', async () => {
    const ask = () =>
      service.request('POST', `/api/v1/zones/${zone}/feed-links`, {
        key: owner.key,
        body: {},
        headers: { 'Idempotency-Key': 'once' },
      })
    const first = parsed(await ask(), 201, Made).feed_link
    const again = parsed(await ask(), 201, z.object({ feed_link: ShownFeedLink })).feed_link
    expect(again).toEqual({ ...first, urls: null })
  })

  test('is rotated: the former addresses stop working at once', async () => {
    const { id, address } = await linkOf(owner)
    const path = `/api/v1/zones/${zone}/feed-links/${id}/rotate`
    const answer = await service.request('POST', path, { key: owner.key })
    const { urls, rotated_at } = parsed(answer, 200, Made).feed_link
    expect(rotated_at).not.toBeNull()
    expect((await read(address('atom'))).status).toBe(404)
    expect((await read(new URL(urls.atom ?? '').pathname)).status).toBe(200)
  })

  test('is one of at most 20 of a zone', async () => {
    await service.database.query(
      `insert into watchpost.feed_links (zone_id, owner_id, token_hash)
      select $1, $2, sha256(gen_random_uuid()::text::bytea) from generate_series(1, 20)`,
      [zone, owner.user_id],
    )
    const path = `/api/v1/zones/${zone}/feed-links`
    const answer = await service.request('POST', path, { key: owner.key, body: {} })
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('20 feed links')])
  })

  test('two that are made at once are not one too many', async () => {
    const made = `insert into watchpost.feed_links (zone_id, owner_id, token_hash)
      select $1, $2, sha256(gen_random_uuid()::text::bytea) from generate_series(1, $3)`
    await service.database.query(made, [zone, owner.user_id, 19])
    const other = await service.transaction()
    await other.query(made, [zone, owner.user_id, 1])
    const path = `/api/v1/zones/${zone}/feed-links`
    const answer = service.request('POST', path, { key: owner.key, body: {} })
    await vi.waitUntil(
      async () =>
        (
          await service.database.query(
            `select from pg_locks where locktype = 'advisory' and not granted
              and database = (select oid from pg_database where datname = current_database())`,
          )
        ).length > 0,
      { timeout: 10_000, interval: 5 },
    )
    await other.commit()
    expect((await answer).status).toBe(409)
  })

  test('is for whoever may change the zone', async () => {
    const [member, admin] = [await service.person(), await service.person()]
    const org_id = await service.organisation(owner, [member, 'member'], [admin, 'admin'])
    const shared = await zoneOf(owner, { org_id })
    const { id } = await linkOf(owner, shared)
    for (const [method, path, body] of asksOf(shared, id)) {
      const statuses = async ({ key }: Person) =>
        (await service.request(method, path, { key, body })).status
      expect([method, path, await statuses(member)]).toEqual([method, path, 403])
      expect([method, path, (await statuses(admin)) < 300]).toEqual([method, path, true])
    }
  })

  test('of another zone is 404', async () => {
    const { id } = await linkOf(owner)
    const other = await zoneOf(owner)
    for (const [method, verb] of [
      ['GET', ''],
      ['POST', '/rotate'],
      ['DELETE', ''],
    ] as const) {
      const path = `/api/v1/zones/${other}/feed-links/${id}${verb}`
      const answer = await service.request(method, path, { key: owner.key })
      expectProblem(answer, 404, 'not_found')
      expect(answer.text).toContain('no such feed link')
    }
  })

  test('of a zone that is deleted or somebody else’s is 404 of the zone', async () => {
    const { id } = await linkOf(owner)
    const stranger = await service.person()
    const expectNoZone = async ({ key }: Person) => {
      for (const [method, path, body] of asksOf(zone, id)) {
        const answer = await service.request(method, path, { key, body })
        expectProblem(answer, 404, 'not_found')
        expect(answer.text).toContain('no such zone')
      }
    }
    await expectNoZone(stranger)
    await service.request('DELETE', `/api/v1/zones/${zone}`, { key: owner.key })
    await expectNoZone(owner)
  })
})

describe('the feed of a link', () => {
  const set = (statement: string, ...values: unknown[]) => service.database.query(statement, values)
  const plan = (name: string, { user_id }: Person) =>
    set('update watchpost.accounts set plan = $1 where user_id = $2', name, user_id)
  const ban = (until: string | null, { user_id }: Person) =>
    set('update auth.users set banned_until = $1 where id = $2', until, user_id)

  test('is 404 alike for every token that is wrong or dead', async () => {
    const admin = await service.person()
    const org_id = await service.organisation(owner, [admin, 'admin'])
    const shared = await zoneOf(owner, { org_id })
    const [{ address, id }, theirs] = [await linkOf(owner, shared), await linkOf(admin, shared)]
    const seen = new Set<string>()
    const isDead = async (path: string) => {
      const { status, text, headers } = await read(path)
      expect([path, status]).toEqual([path, 404])
      seen.add(text.replace(headers.get('X-Request-Id') ?? '', ''))
    }
    const isAlive = async (path: string) =>
      expect([path, (await read(path)).status]).toEqual([path, 200])
    for (const file of ['x', '.atom', `${generateToken()}.atom`, `${generateToken()}.ics`, '%00']) {
      await isDead(`/api/v1/feeds/${file}`)
    }
    await isDead(address('atom').replace('.atom', '.rss'))
    await isDead(address('atom').replace('.atom', ''))
    const both = [address('atom'), theirs.address('atom')]
    for (const path of both) await isAlive(path)
    await plan('free', owner)
    for (const path of both) await isDead(path)
    await plan('pro', owner)
    await ban('2999-01-01', owner)
    for (const path of both) await isDead(path)
    await ban(null, owner)
    for (const path of both) await isAlive(path)
    // Of somebody else's zone it lives as long as who made it may change that zone.
    await plan('free', admin)
    await isDead(theirs.address('atom'))
    await plan('pro', admin)
    await ban('2999-01-01', admin)
    await isDead(theirs.address('atom'))
    await ban(null, admin)
    await isAlive(theirs.address('atom'))
    const role = (name: string) =>
      set('update watchpost.members set role = $1 where user_id = $2', name, admin.user_id)
    await role('member')
    await isDead(theirs.address('atom'))
    await role('admin')
    await isAlive(theirs.address('atom'))
    await set('delete from watchpost.members where user_id = $1', admin.user_id)
    await isDead(theirs.address('atom'))
    await isAlive(address('atom'))
    await set('update watchpost.zones set deleted_at = now() where id = $1', shared)
    await isDead(address('atom'))
    const renew =
      'update watchpost.feed_links set token_hash = sha256(gen_random_uuid()::text::bytea) where id = $1'
    expect(await service.queryAs(owner.key, renew, [id], 'rollback')).toBe(0)
    await set('update watchpost.zones set deleted_at = null where id = $1', shared)
    await isAlive(address('atom'))
    expect(await service.queryAs(owner.key, renew, [id], 'rollback')).toBe(1)
    const path = `/api/v1/zones/${shared}/feed-links/${id}`
    expect((await service.request('DELETE', path, { key: owner.key })).status).toBe(204)
    await isDead(address('atom'))
    expect(seen.size).toBe(1)
  })

  test('has the alerts of the zone in three formats, newest first, and nothing else of them', async () => {
    const day = 24 * 3_600_000
    const old = await alertOf(owner, { raised_at: new Date(Date.now() - 29 * day) })
    const young = await alertOf(owner)
    await alertOf(owner, { raised_at: new Date(Date.now() - 31 * day) })
    await alertOf(owner, { status: 'suppressed' })
    await alertOf(owner, { zone_id: await zoneOf(owner) })
    const { address } = await linkOf(owner)
    const types = {
      atom: 'application/atom+xml; charset=utf-8',
      geojson: 'application/geo+json',
      ics: 'text/calendar; charset=utf-8; method=PUBLISH',
    }
    for (const [format, type] of Object.entries(types)) {
      const { status, headers, text } = await read(address(format))
      expect([status, headers.get('Content-Type')]).toEqual([200, type])
      expect(headers.get('Cache-Control')).toBe('private, no-cache')
      expect(headers.get('X-Robots-Tag')).toBe('noindex')
      const ids = [...text.matchAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g)].map(([id]) => id)
      expect([format, [...new Set(ids)].filter((id) => id !== zone)]).toEqual([
        format,
        [young, old],
      ])
      expect(text).not.toMatch(/private note|private, no/)
      expect(text).toMatch(format === 'atom' ? 'Port &amp; harbour' : 'Port & harbour')
    }
  })

  test('names every source that reported the same thing', async () => {
    const alert = await alertOf(owner)
    await set(
      `insert into watchpost.alert_events (zone_id, event_id, alert_id, source, event, event_revision, checks, reason,
        zone_version, added_at)
      select zone_id, 'other:1', id, 'a second source', '{}', 1, '[]', 'r', 1, now() from watchpost.alerts where id = $1`,
      alert,
    )
    const { address } = await linkOf(owner)
    for (const format of ['atom', 'geojson', 'ics'])
      expect((await read(address(format))).text.replaceAll('\r\n ', '')).toContain(
        'a second source',
      )
  })

  test('is cut after 100 alerts and says so', async () => {
    await set(
      `insert into watchpost.alerts (zone_id, zone_name, owner_id, event_id, source, event, severity, reason,
        first_reason, status, raised_at, checks, zone_version, event_revision)
      select $1, 'Port', $2, 'usgs:' || n, 'usgs', jsonb_build_object('id', 'usgs:' || n, 'source', 'usgs', 'type',
        'earthquake', 'title', n::text, 'lat', 1, 'lon', 2, 'ts', '2026-01-01T00:00:00.000Z', 'severity', 50, 'url', null),
        50, 'r', 'r', 'dispatched', now() - n * interval '1 second', '[]', 1, 1
      from generate_series(1, 103) n`,
      zone,
      owner.user_id,
    )
    const { address } = await linkOf(owner)
    const { body } = await read(address('geojson'))
    const { features, truncated } = z
      .object({
        truncated: z.boolean(),
        features: z.array(z.object({ properties: z.object({ event_id: z.string() }) })),
      })
      .parse(body)
    expect([truncated, features.length]).toEqual([true, 100])
    expect(features[0]?.properties.event_id).toBe('usgs:1')
    await set(
      "delete from watchpost.alerts where zone_id = $1 and event_id > 'usgs:100' and length(event_id) = 8",
      zone,
    )
    expect((await read(address('geojson'))).body).toMatchObject({ truncated: false })
  })

  test('is not sent again to whoever has it', async () => {
    const changed = (minutes: number) => new Date(Date.now() - minutes * 60_000)
    await set('update watchpost.zones set label = label where id = $1', zone)
    const alert = await alertOf(owner)
    const { address } = await linkOf(owner)
    const path = address('atom')
    const first = await read(path)
    const etag = first.headers.get('ETag') ?? ''
    // What was changed just now may change once more within the same second.
    expect(first.headers.get('Last-Modified')).toBeNull()
    const same = await read(path, { 'If-None-Match': `"x", ${etag}` })
    expect([same.status, same.text, same.headers.get('ETag')]).toEqual([304, '', etag])
    expect(same.headers.get('X-Request-Id')).not.toBeNull()
    await set(
      `begin; set local session_replication_role = replica;
      update watchpost.zones set updated_at = '${changed(9).toISOString()}' where id = '${zone}';
      update watchpost.alerts set updated_at = '${changed(5).toISOString()}' where id = '${alert}';
      commit`,
    )
    const dated = (await read(path)).headers.get('Last-Modified') ?? ''
    expect(Math.abs(Date.parse(dated) - changed(5).getTime())).toBeLessThan(5_000)
    const status = async (headers: Record<string, string>) => (await read(path, headers)).status
    expect(await status({ 'If-Modified-Since': dated })).toBe(304)
    expect(await status({ 'If-Modified-Since': changed(6).toUTCString() })).toBe(200)
    expect(await status({ 'If-Modified-Since': 'yesterday' })).toBe(200)
    // The ETag decides where there are both.
    expect(await status({ 'If-Modified-Since': dated, 'If-None-Match': '"x"' })).toBe(200)
    await set("update watchpost.alerts set reason = 'another' where id = $1", alert)
    expect(await status({ 'If-None-Match': etag })).toBe(200)
  })

  test('takes no query, and no other method', async () => {
    const { address } = await linkOf(owner)
    expect((await read(`${address('atom')}?days=3`)).status).toBe(400)
    const posted = await service.request('POST', address('atom'), {})
    expect([posted.status, posted.headers.get('Allow')]).toEqual([405, 'GET'])
  })
})

test('an alert is answered as CAP where that is accepted', async () => {
  const id = await alertOf(owner)
  const ask = (accept: string, { key } = owner) =>
    service.request('GET', `/api/v1/alerts/${id}`, { key, headers: { Accept: accept } })
  const cap = await ask('application/cap+xml')
  expect([cap.status, cap.headers.get('Content-Type')]).toEqual([200, 'application/cap+xml'])
  expect(cap.headers.get('Vary')).toContain('Accept')
  expect(cap.text).toContain(`<identifier>${id}.0</identifier>`)
  expect(cap.text).toContain('<circle>41,29 0</circle>')
  const ring = [
    [28, 40],
    [30, 40],
    [30, 42],
    [28, 40],
  ]
  await service.database.query(
    `insert into watchpost.events (id, source, type, title, lat, lon, ts, severity, status, extent, geometry)
    select event_id, 'usgs', 'earthquake', 'M 5', 41, 29, now(), 50, 'active', box '(29,41),(29,41)', $2
    from watchpost.alerts where id = $1`,
    [id, { type: 'Polygon', coordinates: [ring] }],
  )
  expect((await ask('application/cap+xml')).text).toContain(
    '<polygon>40,28 40,30 42,30 40,28</polygon>',
  )
  expect((await ask('*/*')).body).toMatchObject({ alert: { id } })
  expect((await ask('text/csv')).status).toBe(406)
  expect((await ask('application/cap+xml', await service.person())).status).toBe(404)
})

// Only Node lets a test put in its own limit; on the edge it would belong to every file of the process.
if (runtime() === 'node')
  test('the feed is limited by address', async () => {
    const limited = await createService({ address_limit: () => 7 })
    try {
      const answer = await limited.request('GET', `/api/v1/feeds/${generateToken()}.atom`)
      expect([answer.status, answer.headers.get('Retry-After')]).toEqual([429, '7'])
    } finally {
      await limited.close()
    }
  })
