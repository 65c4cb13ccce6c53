import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { EVIDENCE_KEYS_PATH } from '../../shared/evidence/evidence.ts'
import { createDeliveryService, type DeliveryService } from '../support/delivery-service.ts'
import { createProcesses, type Processes } from '../support/servers/processes.ts'
import { sendResult } from '../support/service.ts'

let fixture: DeliveryService
let processes: Processes
let folder: string
let good: string
let keys: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchpost-evidence-'))
  processes = await createProcesses()
  fixture = await createDeliveryService()
  ;[good, keys] = [join(folder, 'good.json'), join(folder, 'keys.json')]
  await writeFile(good, await newRecord())
  await writeFile(keys, (await fixture.service.request('GET', EVIDENCE_KEYS_PATH)).text)
})
afterAll(async () => {
  await fixture?.close()
  await processes?.close()
  if (folder) await rm(folder, { recursive: true })
})

async function newRecord(): Promise<string> {
  const { person, delivery } = await fixture.deliverOnce(() => sendResult(200))
  const [row] = await fixture.query('select alert_id from watchpost.deliveries where id = $1', [
    delivery,
  ])
  const path = `/api/v1/alerts/${z.uuid().parse(row?.alert_id)}`
  await fixture.service.request('PATCH', path, { key: person.key, body: { resolved: true } })
  await fixture.jobs.drain()
  return (await fixture.service.request('GET', `${path}/evidence`, { key: person.key })).text
}

async function run(...args: string[]) {
  const started = processes.run('scripts/admin.ts', ['evidence', ...args])
  const code = await started.ended
  return { code, stdout: started.stdout(), stderr: started.stderr() }
}
const here = () => ['--database-url', fixture.service.database.adminUrl]

test('a record is good by the keys of the installation, and by a list of keys without a database', async () => {
  for (const where of [here(), ['--keys', keys]]) {
    const { code, stdout, stderr } = await run('verify', good, ...where, '--json')
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({
      good: true,
      record: 1,
      because: 'settled',
      key_retired_at: null,
    })
  }
})

test('with a changed byte, or by no key, it is not, and the answer says why', async () => {
  const text = await readFile(good, 'utf8')
  const changed = join(folder, 'changed.json')
  await writeFile(changed, text.replace('"severity":60', '"severity":61'))
  const refused = await run('verify', changed, ...here())
  expect(refused.code).not.toBe(0)
  expect(refused.stdout).toBe('')
  expect(refused.stderr).toContain('NOT good: The signature does not fit')
  const none = join(folder, 'none.json')
  await writeFile(none, '{"keys":[]}')
  expect((await run('verify', good, '--keys', none)).stderr).toContain(
    'No key of this service signed it',
  )
  expect((await run('verify', good, '--keys', good)).stderr).toContain('is not a list of keys')
  expect((await run('verify', join(folder, 'missing'))).stderr).toContain('cannot be read (ENOENT)')
  expect((await run('verify')).stderr).toContain('Name one file')
})

test('a key that is retired signs no more, and what it signed stays good', async () => {
  const rotated = await run('rotate', ...here(), '--json')
  const { retired } = z.object({ retired: z.string() }).parse(JSON.parse(rotated.stdout))
  const next = join(folder, 'next.json')
  await writeFile(next, await newRecord())
  const keyOf = async (file: string) => {
    const { stdout } = await run('verify', file, ...here(), '--json')
    return z
      .object({ key_id: z.string(), key_retired_at: z.string().nullable() })
      .parse(JSON.parse(stdout))
  }
  expect(await keyOf(good)).toMatchObject({
    key_id: retired,
    key_retired_at: expect.stringMatching(/Z$/),
  })
  const now = await keyOf(next)
  expect(now.key_retired_at).toBeNull()
  expect(now.key_id).not.toBe(retired)
  expect(
    await fixture.query('select from watchpost.evidence_keys where private_sealed is not null'),
  ).toHaveLength(1)
})

test('a key that leaked is withdrawn: what it signed is not good any more, and is signed anew', async () => {
  const file = join(folder, 'leaked.json')
  await writeFile(file, await newRecord())
  const { evidence, signature } = JSON.parse(await readFile(file, 'utf8'))
  const args = ['--key', signature.key_id, '--from', '2026-01-31', '--reason', 'It leaked']
  const done = await run('withdraw', ...args, ...here(), '--json')
  expect([done.code, done.stderr]).toEqual([0, expect.any(String)])
  expect(JSON.parse(done.stdout)).toMatchObject({ withdrawn: signature.key_id })
  const refused = await run('verify', file, ...here())
  expect([refused.code, refused.stdout]).toEqual([2, ''])
  expect(refused.stderr).toMatch(
    /NOT to be trusted unless it was seen before 2026-01-31T00:00:00\.000Z: .*\(It leaked\)/,
  )
  const published = await fixture.service.request('GET', EVIDENCE_KEYS_PATH)
  expect(published.text).toContain('"withdrawn_at":"2026-01-31T00:00:00.000Z"')
  await fixture.jobs.drain()
  const again = await fixture.service.database.query<{ record: string; kid: string }>(
    'select record, kid from watchpost.evidence where alert_id = $1',
    [evidence.alert.id],
  )
  expect(again).toHaveLength(1)
  expect(JSON.parse(again[0]?.record ?? '')).toEqual(evidence)
  expect(again[0]?.kid).not.toBe(signature.key_id)
  expect(
    await fixture.query(
      "select action from watchpost.operator_acts where action like 'evidence_key.withdrawn'",
    ),
  ).toHaveLength(1)
  expect((await run('withdraw', '--key', 'none', ...args.slice(2), ...here())).stderr).toMatch(
    /^There is no key none/,
  )
})
