import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createAttempts } from '../../../hub/auth/attempts.ts'
import { urlFor } from '../../../hub/db/keys.ts'
import { readText } from '../../../hub/files.ts'
import { tooLong } from '../../../hub/http/http.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub({ key: 'public' })
})
afterAll(() => hub.close())

const PASSWORD = 'correct horse battery'
const request = (path: string, init: RequestInit = {}) =>
  hub.app.request(`/api/cockpit/${path}`, {
    ...init,
    headers: { host: 'localhost:8770', 'content-type': 'application/json', ...init.headers },
  })
const post = (path: string, body: unknown, headers = {}) =>
  request(path, { method: 'POST', body: JSON.stringify(body), headers })
const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? ''

describe('the one admin', () => {
  test('is made once, with the set-up code', async () => {
    expect((await post('setup', { code: 'wrong', password: PASSWORD })).status).toBe(422)
    const code = await readText(join(hub.paths.config_dir, 'setup.code'))
    const short = await post('setup', { code, password: 'short' })
    expect((await short.json()).errors[0].path).toBe('password')
    const turkish = { 'Accept-Language': 'tr' }
    const weak = await post('setup', { code, password: 'short' }, turkish)
    expect((await weak.json()).errors[0].message).toBe('En az 10 karakter olmalı.')
    const wrong = await post('setup', { code: 'wrong', password: PASSWORD }, turkish)
    expect((await wrong.json()).errors[0].message).toMatch(/^Kurulum kodu yanlış/)
    const made = await post('setup', { code, password: PASSWORD })
    expect(made.status).toBe(200)
    const cookie = made.headers.get('set-cookie')
    expect(cookie).toContain('HttpOnly')
    expect(cookie).toContain('SameSite=Strict')
    expect((await post('setup', { code, password: PASSWORD })).status).toBe(409)
    expect(await (await request('health')).json()).toMatchObject({
      set_up: true,
      key_role: 'hub_ro',
    })
  })

  test('signs in by password; a changed password ends the other sessions', async () => {
    const cookie = cookieOf(await post('login', { password: PASSWORD }))
    expect((await request('projects/list', { headers: { cookie } })).status).toBe(200)
    const guessed = { current: 'not the right one', password: 'another long one' }
    const refused = await post('password', guessed, { cookie })
    expect(await refused.json()).toMatchObject({ status: 422, errors: [{ path: 'current' }] })
    const changed = await post(
      'password',
      { current: PASSWORD, password: 'another long one' },
      { cookie },
    )
    expect(changed.status).toBe(200)
    expect((await request('projects/list', { headers: { cookie } })).status).toBe(401)
    const headers = { cookie: cookieOf(changed) }
    expect((await request('projects/list', { headers })).status).toBe(200)
  })

  test.each([
    ['nothing', {}],
    ['a wrong token', { authorization: 'Bearer wph_local_x' }],
    ['a forged cookie', { cookie: 'hub_session=eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.' }],
  ])('%s answers 401 unauthenticated', async (_, headers) => {
    const refused = await request('projects/list', { headers })
    expect(refused.status).toBe(401)
    expect(await refused.json()).toMatchObject({ code: 'unauthenticated' })
  })

  test('a foreign host or origin answers 403', async () => {
    const { call } = hub
    for (const headers of [
      { host: 'evil.example' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { host: 'localhost:8770', origin: 'http://localhost:3000' },
    ] as Record<string, string>[]) {
      expect((await call('GET', 'projects/list', undefined, headers)).status).toBe(403)
    }
    const own = { host: 'localhost:8770', origin: 'http://localhost:8770' }
    expect((await call('GET', 'projects/list', undefined, own)).status).toBe(200)
  })

  test('the hub is called by its names alone, and each is another page to the others', async () => {
    const { config } = hub.deps
    const before = { hosts: config.hosts, public_url: config.public_url }
    onTestFinished(() => void Object.assign(config, before))
    // The installer adds the addresses of the machine as they are, without brackets.
    const hosts = [
      'Hub.Firma.Example',
      '2001:db8::5',
      'CRM.çelik.example',
      'https://a.example:8443/',
    ]
    const names = { hosts, public_url: 'https://crm.firma.example/hub' }
    Object.assign(config, names)
    const status = async (host: string, origin?: string) =>
      (await hub.call('GET', 'projects/list', undefined, { host, ...(origin ? { origin } : {}) }))
        .status
    const [local, crm] = ['[::1]:8770', 'crm.firma.example']
    const ours = [
      'localhost',
      '127.0.0.1:8770',
      local,
      'hub.firma.example',
      'HUB.FIRMA.EXAMPLE:443',
      '[2001:db8::5]',
      '[2001:DB8::5]:443',
      // As a browser sends it.
      'crm.xn--elik-zoa.example',
      'a.example:8443',
    ]
    for (const host of [...ours, crm]) expect(await status(host), host).toBe(200)
    for (const host of [
      'firma.example',
      '[2001:db8::6]',
      `x.${crm}`,
      'localhost.evil.example',
      `${crm}.evil.example`,
    ]) {
      expect(await status(host), host).toBe(403)
    }
    expect(await status(crm, `https://${crm}`)).toBe(200)
    expect(await status(crm.toUpperCase(), `https://${crm}`)).toBe(200)
    for (const origin of ['https://hub.firma.example', `https://${crm}:8443`, 'no address']) {
      expect(await status(crm, origin), origin).toBe(403)
    }
  })

  test('a mail program takes somebody off the list from anywhere, under the hub’s name', async () => {
    const status = async (headers: Record<string, string>) =>
      (await hub.call('POST', 'u/x', undefined, { origin: 'https://mail.example', ...headers }))
        .status
    expect(await status({})).not.toBe(403)
    expect(await status({ host: 'evil.example' })).toBe(403)
  })

  test('who is not signed in sends 4 KiB at most', async () => {
    const body = (length: number) => `{"password":"${'x'.repeat(length - 15)}"}`
    const status = async (length: number) =>
      (await request('login', { method: 'POST', body: body(length) })).status
    expect([await status(4096), await status(4097)]).toEqual([422, 413])
  })
})

test('what is too long is told how long it may be', () => {
  expect(tooLong(4096).message).toContain('over 4 KiB.')
  expect(tooLong(2 ** 20).message).toContain('over 1 MiB.')
  expect(tooLong(25 * 2 ** 20).message).toContain('over 25 MiB.')
})

test('a guessing address waits longer each time, and only that address', async () => {
  let now = 0
  const attempts = createAttempts(() => now)
  const guess = (address: string, right = false) =>
    attempts.attempt({ address, is_reserved: false }, async () => right)
  for (let i = 0; i < 4; i += 1) expect(await guess('a')).toBe(false)
  await expect(guess('a')).rejects.toThrow('Try again in 2 s')
  expect(await guess('b')).toBe(false)
  now += 2000
  expect(await guess('a')).toBe(false)
  await expect(guess('a')).rejects.toThrow('Try again in 4 s')
  now += 4000
  expect(await guess('a', true)).toBe(true)
  expect(await guess('a')).toBe(false)
  expect(await guess('a')).toBe(false)
})

describe('with only the public key', () => {
  test('a write answers 401 read_only_key and names the way out, before its body is read', async () => {
    const refused = await hub.call('POST', 'projects/create', { nonsense: true })
    expect(refused.status).toBe(401)
    expect(await refused.json()).toMatchObject({
      code: 'read_only_key',
      detail: expect.stringContaining('Settings > Service Key'),
    })
  })

  test('Postgres itself refuses hub_ro every write', async () => {
    const key = (await readText(join(hub.paths.config_dir, 'public.key'))) ?? ''
    const client = new pg.Client({ connectionString: urlFor(key.trim(), hub.config.database) })
    await client.connect()
    try {
      // Also when the role's own default is overruled.
      await client.query('set default_transaction_read_only = off')
      const tables = await hub.query<{ name: string }>(
        `select format('%I.%I', schemaname, tablename) as name from pg_tables
         where schemaname in ('hub', 'private')`,
      )
      expect(tables.length).toBeGreaterThan(8)
      for (const { name } of tables) {
        await expect(client.query(`delete from ${name}`)).rejects.toMatchObject({ code: '42501' })
        await expect(client.query(`insert into ${name} default values`)).rejects.toMatchObject({
          code: '42501',
        })
      }
    } finally {
      await client.end()
    }
  })
})
