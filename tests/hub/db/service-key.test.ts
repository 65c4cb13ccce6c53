import { type ChildProcess, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newKey, secretHash } from '../../../hub/auth/identity.ts'
import { startHub, type TestHub } from '../support/hub.ts'

describe('a pasted key', () => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startHub({ key: 'public' })
  })
  afterAll(() => hub.close())
  const paste = (key: string) => hub.call('POST', 'settings/service_key', { key })
  const kept = async (file: string) =>
    (await readFile(join(hub.paths.config_dir, file), 'utf8')).trim()

  test.each([
    ['no key at all', 'hunter2', 'form'],
    ['a key of another hub', `wph_service_${'x'.repeat(32)}`, 'wrong'],
    ['a public key of another hub', `wph_public_${'x'.repeat(32)}`, 'wrong'],
  ])('%s is 422, names the field and the way out, and changes nothing', async (_, key, code) => {
    const before = await kept('database.key')
    const refused = await paste(key)
    expect(refused.status).toBe(422)
    const { errors } = await refused.json()
    expect(errors).toMatchObject([{ path: 'key', code }])
    expect(errors[0].message).toContain('watchpost-hub service-key show')
    expect(await kept('database.key')).toBe(before)
    expect(hub.restarts()).toBe(0)
  })

  test('before it, the key of a script may read, and its use is written down nowhere', async () => {
    const key = newKey()
    await hub.query(
      "insert into hub.api_keys (name, scope, key_hash, hint) values ('x', 'read', $1, 'abcd')",
      [secretHash(key)],
    )
    const list = await hub.call('GET', 'projects/list', undefined, {
      authorization: `Bearer ${key}`,
    })
    expect(list.status).toBe(200)
    expect(await hub.query('select last_used_at from hub.api_keys')).toEqual([
      { last_used_at: null },
    ])
  })

  test('a service key without the right to write is refused', async () => {
    await hub.query('revoke insert on hub.projects from hub_rw')
    const refused = await paste(await kept('service.key'))
    await hub.query('grant insert on hub.projects to hub_rw')
    expect(await refused.json()).toMatchObject({ errors: [{ path: 'key', code: 'rights' }] })
    const other = { key: `wph_service_${'x'.repeat(32)}` }
    const headers = { 'Accept-Language': 'tr' }
    const turkish = await hub.call('POST', 'settings/service_key', other, headers)
    expect((await turkish.json()).errors[0].message).toMatch(
      /^Veritabanı bu anahtarı kabul etmiyor/,
    )
  })

  test('the right one is kept for the hub alone, tried without a trace, and restarts it', async () => {
    const accepted = await paste(` ${await kept('service.key')}`)
    expect(accepted.status).toBe(202)
    expect(await accepted.json()).toEqual({ restarting: true, key_role: 'hub_rw' })
    expect(await kept('database.key')).toBe(await kept('service.key'))
    expect(statSync(join(hub.paths.config_dir, 'database.key')).mode & 0o777).toBe(0o600)
    expect(await hub.query('select from hub.projects')).toHaveLength(0)
    expect(hub.restarts()).toBe(1)
    expect(JSON.stringify(hub.lines)).not.toContain('wph_service')
  })
})

describe('npm run hub', { timeout: 120_000 }, () => {
  let folder: string
  let supervisor: ChildProcess
  let address = ''
  let headers: Record<string, string>
  const call = (path: string, body?: object) =>
    fetch(`${address}/api/cockpit/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  const healthy = (key_role: string) =>
    vi.waitFor(
      async () => expect(await (await call('health')).json()).toMatchObject({ key_role }),
      { timeout: 60_000, interval: 50 },
    )
  const create = () => call('projects/create', { slug: 'acme', name: 'Acme' })

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'watchpost-supervised-'))
    await chmod(folder, 0o711)
    const args = ['scripts/hub.ts', '--port', '0', '--data-dir', join(folder, 'hub')]
    supervisor = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    address = await new Promise<string>((resolve, reject) => {
      supervisor.on('exit', (code) => reject(new Error(`the hub ended with ${code}`)))
      createInterface({ input: supervisor.stdout as NodeJS.ReadableStream }).on('line', (line) => {
        const [found] = /http:\/\/localhost:\d+/.exec(line) ?? []
        if (found) resolve(found)
      })
    })
    const token = await readFile(join(folder, 'hub/hub.token'), 'utf8')
    headers = { authorization: `Bearer ${token.trim()}` }
  })
  afterAll(async () => {
    supervisor.removeAllListeners('exit')
    const ended = new Promise((resolve) => supervisor.once('exit', resolve))
    supervisor.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true })
  })

  test('restarts itself under a pasted key: 401 before, writes after', async () => {
    await healthy('hub_ro')
    const refused = await create()
    expect(refused.status).toBe(401)
    expect((await refused.json()).code).toBe('read_only_key')

    const key = await readFile(join(folder, 'hub/service.key'), 'utf8')
    expect((await call('settings/service_key', { key })).status).toBe(202)
    await healthy('hub_rw')
    expect((await create()).status).toBe(201)
  })

  test('restores a backup and starts itself anew on it', async () => {
    const jobEnded = (kind: string) =>
      vi.waitFor(
        async () => {
          const { job } = await (await call('backups')).json()
          expect(job).toMatchObject({ kind, status: 'done' })
          return job
        },
        { timeout: 30_000, interval: 100 },
      )
    const startedAt = async () =>
      Date.now() / 1000 - (await (await call('system_info')).json()).uptime_seconds
    const before = await startedAt()
    await call('backup/run', {})
    const { name } = await jobEnded('backup')
    await call('lead/quick_add', { slug: 'acme', data: { name: 'Added since' } })
    expect((await call('backup/restore', { name, confirm: name })).status).toBe(202)
    await vi.waitFor(async () => expect(await startedAt()).toBeGreaterThan(before + 1.5), {
      timeout: 60_000,
      interval: 100,
    })
    expect((await jobEnded('restore')).name).toBe(name)
    const { leads } = await (await call('leads/list?project=acme')).json()
    expect(leads).toEqual([])
    const { state } = await (await call('settings/mail')).json()
    expect(state.paused).toMatchObject({ reason: 'restored' })
  })

  test('takes the public key back', async () => {
    const back = await readFile(join(folder, 'hub/public.key'), 'utf8')
    expect((await call('settings/service_key', { key: back })).status).toBe(202)
    await healthy('hub_ro')
    expect((await create()).status).toBe(401)
    expect((await call('projects/list')).status).toBe(200)
  })
})
