import { readFile, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Words } from '../../../hub/i18n/words.ts'
import type { ModelState } from '../../../hub/model/model.ts'
import { createHealth, readAlerts } from '../../../hub/ops/health.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { modelIn } from '../support/model-state.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.close())

test('system_info tells of the machine, the model, the license and the backups', async () => {
  const info = await (await hub.call('GET', 'system_info')).json()
  expect(info).toMatchObject({
    version: expect.any(String),
    model: { state: 'none', name: null },
    database: { key_role: 'hub_rw' },
    license: { tier: 'free', max_projects: 1, status: 'none' },
    backups: { last_at: null },
    alerts: [],
  })
  expect(info.cpu.cores).toBeGreaterThan(0)
  expect(info.cpu.load_1m).toBeGreaterThanOrEqual(0)
  expect(info.uptime_seconds).toBe(Math.floor(info.uptime_seconds))
  expect(info.uptime_seconds).toBeGreaterThanOrEqual(0)
  expect(info.memory.hub_bytes).toBeGreaterThan(2 ** 20)
  // Of a disk the hub asks in blocks, and tells in bytes.
  const { blocks, bsize } = await statfs(hub.paths.data_dir)
  expect(info.disk.total_bytes).toBe(blocks * bsize)
  expect(info.memory.total_bytes).toBeGreaterThan(info.memory.free_bytes)
  expect(info.disk.total_bytes).toBeGreaterThan(info.disk.free_bytes)
})

test('a license that is not there can be removed', async () => {
  expect((await hub.call('DELETE', 'license')).status).toBe(204)
})

describe('settings/system', () => {
  const put = (change: object) => hub.call('PUT', 'settings/system', change)
  const file = async (name: string) =>
    JSON.parse(await readFile(join(hub.paths.config_dir, name), 'utf8'))

  test('of a new hub are those of the installation', async () => {
    const { system } = await (await hub.call('GET', 'settings/system')).json()
    expect(system).toEqual({
      language: 'en',
      public_url: null,
      hosts: [],
      backup: {
        hour: 3,
        keep_daily: 14,
        encryption: { kind: 'none', has_passphrase: false, recipient: null },
        target: { kind: 'none', has_secret: false },
        public_key: null,
      },
    })
  })

  test('keeps what is not sent, shows no secret, and keeps secrets that are not sent', async () => {
    const changed = await put({
      language: 'tr',
      backup: {
        hour: 5,
        encryption: { kind: 'passphrase', passphrase: 'correct horse battery' },
        target: {
          kind: 's3',
          endpoint: 'https://s3.example.com',
          bucket: 'backups',
          access_key_id: 'AKID',
          secret_access_key: 'hidden',
        },
      },
    })
    expect(changed.status).toBe(200)
    const { system } = await changed.json()
    expect(system).toMatchObject({
      language: 'tr',
      public_url: null,
      backup: {
        hour: 5,
        keep_daily: 14,
        encryption: { kind: 'passphrase', has_passphrase: true, recipient: null },
        target: { kind: 's3', region: 'us-east-1', has_secret: true },
      },
    })
    expect(JSON.stringify(system)).not.toMatch(/correct horse|hidden/)
    const { target } = system.backup
    const { has_secret: _, ...again } = target
    const kept = await put({
      backup: { encryption: { kind: 'passphrase' }, target: { ...again, bucket: 'others' } },
    })
    expect(kept.status).toBe(200)
    expect(await file('backup.json')).toMatchObject({
      hour: 5,
      encryption: { passphrase: 'correct horse battery' },
      target: { bucket: 'others', secret_access_key: 'hidden' },
    })
  })

  test('refuses to send plain backups away, a weak passphrase and a public address without TLS', async () => {
    const paths = async (change: object) => {
      const refused = await put(change)
      expect(refused.status).toBe(422)
      return (await refused.json()).errors.map(({ path }: { path: string }) => path)
    }
    expect(await paths({ backup: { encryption: { kind: 'none' } } })).toEqual(['backup.encryption'])
    expect(await paths({ public_url: 'http://hub.example.com' })).toEqual(['public_url'])
    expect(
      await paths({ backup: { encryption: { kind: 'passphrase', passphrase: 'short' } } }),
    ).toEqual(['backup.encryption.passphrase'])
    expect((await file('backup.json')).target.bucket).toBe('others')
  })

  test('a new secret takes the place of the old one, and a chosen kind forgets that of another', async () => {
    const refusals = async (backup: object) => {
      const answer = await put({ backup })
      const { errors = [] } = await answer.json()
      return errors.map(({ path }: { path: string }) => path)
    }
    const s3 = {
      ...{ kind: 's3', endpoint: 'https://s3.example.com', bucket: 'backups' },
      access_key_id: 'AKID',
    }
    const phrase = { kind: 'passphrase', passphrase: 'another one entirely' }
    expect(await refusals({ encryption: phrase })).toEqual([])
    expect(await refusals({ target: { ...s3, secret_access_key: 'newer' } })).toEqual([])
    expect(await file('backup.json')).toMatchObject({
      encryption: phrase,
      target: { secret_access_key: 'newer' },
    })
    const recipient = { kind: 'recipient', recipient: `age1${'q'.repeat(58)}` }
    expect(await refusals({ encryption: recipient, target: { kind: 'none' } })).toEqual([])
    expect(await file('backup.json')).toMatchObject({
      encryption: recipient,
      target: { kind: 'none' },
    })
    expect(await refusals({ encryption: { kind: 'passphrase' } })).toEqual([
      'backup.encryption.passphrase',
    ])
    expect(await refusals({ target: s3 })).toEqual(['backup.target.secret_access_key'])
    const read = await (await hub.call('GET', 'settings/system')).json()
    expect(read.system.backup).toMatchObject({
      encryption: { ...recipient, has_passphrase: false },
      target: { kind: 'none', has_secret: false },
    })
    expect(await refusals({ keep_daily: 9 })).toEqual([])
    expect(await file('backup.json')).toMatchObject({ keep_daily: 9, encryption: recipient })
  })

  test('names are kept in hub.json, which others of this machine do not read', async () => {
    const before = await file('hub.json')
    expect((await put({ language: 'tr' })).status).toBe(200)
    expect([await file('hub.json'), await file('system.json')]).toEqual([
      before,
      { language: 'tr' },
    ])
    const hosts = ['intern.example']
    expect((await put({ hosts })).status).toBe(200)
    expect(await file('hub.json')).toEqual({ ...before, hosts })
    const { mode } = await stat(join(hub.paths.config_dir, 'hub.json'))
    expect(mode & 0o777).toBe(0o640)
    const headers = { host: 'intern.example' }
    expect((await hub.call('GET', 'system_info', undefined, headers)).status).toBe(200)
    expect((await put({ hosts: before.hosts ?? [] })).status).toBe(200)
  })

  test('nobody takes the name away under which they have opened the hub', async () => {
    const before = await file('hub.json')
    const names = { hosts: ['crm.example', 'other.example'], public_url: 'https://hub.example.com' }
    expect((await put(names)).status).toBe(200)
    const refused = async (host: string, change: object) => {
      const answer = await hub.call('PUT', 'settings/system', change, { host })
      return answer.status === 200 ? [] : (await answer.json()).errors
    }
    const own_name = { code: 'own_name', message: expect.stringContaining('crm.example') }
    expect(await refused('crm.example:8443', { hosts: ['other.example'] })).toEqual([
      { path: 'hosts', ...own_name },
    ])
    const address = { public_url: null }
    expect(await refused('hub.example.com', address)).toMatchObject([{ path: 'public_url' }])
    expect(await file('hub.json')).toEqual({ ...before, ...names })
    expect(await refused('other.example', { hosts: ['other.example'] })).toEqual([])
    const back = { hosts: before.hosts ?? [], public_url: before.public_url ?? null }
    expect(await refused('localhost:8770', back)).toEqual([])
  })

  test('the address holds from the next request on, and keeps the rest of hub.json', async () => {
    const before = await file('hub.json')
    const headers = { host: 'hub.example.com' }
    expect((await hub.call('GET', 'system_info', undefined, headers)).status).toBe(403)
    expect((await put({ public_url: 'https://hub.example.com' })).status).toBe(200)
    expect((await hub.call('GET', 'system_info', undefined, headers)).status).toBe(200)
    expect(await file('hub.json')).toEqual({ ...before, public_url: 'https://hub.example.com' })
  })
})

test('a look at the health that fails is logged, and others follow', async () => {
  const { config, deps } = hub
  const said: unknown[] = []
  const given = {
    config,
    db: deps.db,
    model: deps.model,
    log: ({ msg }: { msg?: unknown }) => said.push(msg),
  }
  const noClock = () => {
    throw new Error('no clock')
  }
  const end = createHealth({ ...given, is_writable: true }, noClock).start(1)
  await vi.waitFor(() => expect(said.length).toBeGreaterThan(1), { timeout: 60_000 })
  end()
  expect(new Set(said)).toEqual(new Set(['health check failed']))
})

describe('health', () => {
  let state: ModelState['state'] = 'ready'
  let now = Date.now()
  const model = modelIn(() => state)
  const missions = () =>
    hub.query<{ task: string; routed_by: string }>(
      "select task, routed_by from hub.missions where department = 'system' order by created_at",
    )
  let look: () => Promise<{ cause: string; message: Words; mission_id: string | null }[]>
  beforeAll(async () => {
    await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir' })
    const { config, deps, lines } = hub
    const log = (line: Record<string, unknown>) => void lines.push(line)
    const given = { config, db: deps.db, model, log, is_writable: true }
    look = createHealth(given, () => new Date(now)).check
  })

  test('a model that crashes again and again is told to the system agent once a day', async () => {
    expect(await look()).toEqual([])
    state = 'crashed'
    expect(await look()).toEqual([])
    await look()
    const [alert] = await look()
    // The language was set to Turkish above.
    expect(alert).toMatchObject({ cause: 'model' })
    expect(alert?.message.tr).toBe('Model çöktü: it ran out of memory')
    expect(await missions()).toEqual([{ task: alert?.message.tr, routed_by: 'alert' }])
    // Each reader reads it in a language of their own.
    const read = async (language: string) => {
      const headers = { 'Accept-Language': language }
      const { alerts } = await (await hub.call('GET', 'system_info', undefined, headers)).json()
      return alerts[0].message
    }
    expect(await read('en')).toBe('The model crashed: it ran out of memory')
    expect(await read('tr')).toBe('Model çöktü: it ran out of memory')

    state = 'ready'
    expect(await look()).toEqual([])
    expect((await readAlerts(hub.paths))[0]).toMatchObject({
      cause: 'model',
      ended_at: expect.any(String),
    })
    state = 'crashed'
    for (let i = 0; i < 4; i += 1) await look()
    expect(await missions()).toHaveLength(1)

    // A day later, and the first mission has ended long ago.
    now += 25 * 3_600_000
    await hub.query(
      "update hub.missions set status = 'done', created_at = now() - interval '1 day'",
    )
    await look()
    expect(await missions()).toHaveLength(2)
    const shown = await (await hub.call('GET', 'system_info')).json()
    expect(shown.alerts[0]).toMatchObject({ cause: 'model', ended_at: null })
  })

  test('a stuck queue and a failed backup are alerts', async () => {
    state = 'ready'
    await hub.query(
      `insert into hub.missions (project_id, department, task, created_at)
       select id, 'sales', 'Call', now() - interval '2 hours' from hub.projects`,
    )
    const job = {
      id: '0f8fad5b-d9cb-469f-a165-70867728950e',
      kind: 'backup',
      status: 'failed',
      step: 'target',
      progress: 0.9,
      name: null,
      reason: { en: 'The bucket refused it.', tr: 'Kova kabul etmedi.' },
      started_at: '2026-01-01T00:00:00.000Z',
      finished_at: '2026-01-01T00:01:00.000Z',
      pid: 1,
    }
    await writeFile(join(hub.paths.data_dir, 'backups/.job.json'), JSON.stringify(job))
    const alerts = await look()
    expect(alerts.map(({ cause }) => cause).sort()).toEqual(['backup', 'queue'])
    expect(alerts.find(({ cause }) => cause === 'backup')?.message).toEqual({
      en: 'The last backup failed. The bucket refused it.',
      tr: 'Son yedekleme başarısız oldu. Kova kabul etmedi.',
    })
    await rm(join(hub.paths.data_dir, 'backups/.job.json'))
  })
})
