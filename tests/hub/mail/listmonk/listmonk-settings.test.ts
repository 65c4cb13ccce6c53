import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHub, type TestHub } from '../../support/hub.ts'
import { apiOf } from '../../support/mail-help.ts'
import { type ListmonkStandIn, startListmonk } from './listmonk-stand-in.ts'

let hub: TestHub
let standIn: ListmonkStandIn
let api: ReturnType<typeof apiOf>
beforeAll(async () => {
  standIn = await startListmonk()
  hub = await startHub()
  api = apiOf(hub)
  const { url, user, token } = standIn
  await api.put('settings/mail', { listmonk: { url, user, token } })
})
afterAll(async () => {
  await hub.close()
  await standIn.close()
})

describe('the settings of listmonk', () => {
  test('show no secret; an omitted one is kept for the same server only', async () => {
    const text = JSON.stringify((await api.get('settings/mail')).body)
    expect(text).not.toContain(standIn.token)
    const { url, user } = standIn
    expect((await api.put('settings/mail', { listmonk: { url, user } })).status).toBe(200)
    expect((await api.post('settings/mail/test')).body.listmonk).toMatchObject({
      ok: true,
      missing: [],
    })
    const other = await api.put('settings/mail', { listmonk: { url: 'http://127.0.0.1:9', user } })
    expect(other.status).toBe(422)
    expect(other.body.errors[0].path).toBe('listmonk.token')
  })

  test('the test names the permission that is missing', async () => {
    const poor = await startListmonk({ permissions: ['lists:manage_all', 'subscribers:get_all'] })
    const { url, user, token } = poor
    await api.put('settings/mail', { listmonk: { url, user, token } })
    const { listmonk } = (await api.post('settings/mail/test')).body
    expect(listmonk.ok).toBe(false)
    expect(listmonk.missing).toContain('campaigns:send')
    expect(listmonk.message).toContain('campaigns:send')
    const turkish = apiOf(hub, { 'Accept-Language': 'tr' })
    const said = (await turkish.post('settings/mail/test')).body.listmonk
    expect(said.message).toMatch(/^API kullanıcısında şu izinler eksik: .*campaigns:send/)
    expect(said.permissions).toContainEqual({
      name: 'campaigns:send',
      what_for: 'kampanya başlatmak için',
      granted: false,
    })
    await poor.close()
  })
})

test('the list of a project is made once, and why it cannot be is told', async () => {
  await api.ok('projects/create', { slug: 'demir', name: 'Demir' })
  const make = (slug = 'demir') => api.post('projects/listmonk_list', { slug })
  const { url, user, token } = standIn
  const connect = (listmonk: object | null) => api.put('settings/mail', { listmonk })
  await connect({ url, user, token })
  const first = await make()
  expect(first).toMatchObject({ status: 200, body: { project: { slug: 'demir' } } })
  expect((await make()).body.list).toEqual(first.body.list)
  expect((await make('nobody')).status).toBe(404)

  await hub.query("insert into hub.projects (slug, name) values ('other', 'Other')")
  expect((await make('other')).status).toBe(402)
  await hub.query("delete from hub.projects where slug = 'demir'")
  const strict = await startListmonk({ permissions: [] })
  await connect({ url: strict.url, user: strict.user, token: strict.token })
  expect(await make('other')).toMatchObject({ status: 409, body: { code: 'conflict' } })
  await strict.close()
  expect(await make('other')).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  await connect(null)
  expect(await make('other')).toMatchObject({
    status: 409,
    body: { code: 'conflict', detail: expect.stringContaining('listmonk is not connected') },
  })
})
