import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { secretHash } from '../../../hub/auth/identity.ts'
import { startBackup, startRestore } from '../../../hub/backup/backup.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { joinAs, keyWith } from '../support/members.ts'

const SECRET = 'x'.repeat(43)
let hub: TestHub
let name: string
let seller: Awaited<ReturnType<typeof joinAs>>
let reader: Awaited<ReturnType<typeof joinAs>>
let key: string
let before: Awaited<ReturnType<typeof people>>

beforeAll(async () => {
  hub = await startHub()
  await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir' })
  seller = await joinAs(hub, 'seller')
  reader = await joinAs(hub, 'reader')
  key = await keyWith(hub, 'write')
  await hub.query('update hub.api_keys set revoked_at = now() where key_hash <> $1', [
    secretHash(key),
  ])
  await hub.query(
    `insert into hub.members (email, role, link_hash, link_ends_at)
     values ('invited@hub.example', 'seller', $1, now() + interval '3 days')`,
    [secretHash(SECRET)],
  )
  before = await people()
  name = await (await startBackup(hub.config, 'manual')).done
})
afterAll(() => hub?.close())

/** The members, with their invitations, and the keys. */
const people = async () => ({
  members: await hub.query('select * from hub.members order by id'),
  keys: await hub.query('select * from hub.api_keys order by id'),
})
const restore = async () => (await startRestore(hub.config, name, { secret: {} })).done
const statusFor = async (headers: Record<string, string>) =>
  (
    await hub.app.request('/api/cockpit/projects/list', {
      headers: { host: 'localhost', ...headers },
    })
  ).status
const lookAt = async (secret: string) =>
  (await hub.call('POST', 'invitation/look', { secret })).status

test('a restore gives back nothing that was taken from a member, an invitation or a key since', async () => {
  expect(await statusFor({ cookie: seller.cookie })).toBe(200)
  await hub.query("update hub.members set role = 'reader', session_epoch = 2 where id = $1", [
    seller.id,
  ])
  await hub.query('update hub.members set removed_at = now(), password_hash = null where id = $1', [
    reader.id,
  ])
  await hub.query(
    "update hub.members set removed_at = now(), link_hash = null, link_ends_at = null where email = 'invited@hub.example'",
  )
  await hub.query('update hub.api_keys set revoked_at = now()')
  const since = await people()
  await restore()
  expect(await people()).toEqual(since)
  expect(await statusFor({ cookie: seller.cookie })).toBe(401)
  expect(await statusFor({ cookie: reader.cookie })).toBe(401)
  expect(await statusFor({ authorization: `Bearer ${key}` })).toBe(401)
  expect(await lookAt(SECRET)).toBe(404)
})

test('on a machine that knows nobody, members, roles, invitations and keys are as in the backup, without sessions', async () => {
  await hub.query('delete from hub.members')
  await hub.query('delete from hub.api_keys')
  await rm(join(hub.paths.config_dir, 'sessions.json'))
  await restore()
  expect(await people()).toEqual(before)
  expect(await statusFor({ cookie: seller.cookie })).toBe(401)
  expect(await statusFor({ authorization: `Bearer ${key}` })).toBe(200)
  expect(await lookAt(SECRET)).toBe(200)
})

test('who was invited again on another machine stays as invited there', async () => {
  await hub.query('delete from hub.members')
  const { id } = await joinAs(hub, 'reader', 'The seller')
  await joinAs(hub, 'reader', 'Invited')
  // Who was removed has no place that another could take.
  await hub.query(
    `insert into hub.members (email, role, removed_at) values ('the.reader@hub.example', 'reader', now())`,
  )
  await restore()
  const members = await hub.query<{ id: string; email: string }>(
    'select id, email, role from hub.members where removed_at is null order by email',
  )
  expect(members).toEqual([
    expect.objectContaining({ email: 'invited@hub.example' }),
    expect.objectContaining({ email: 'the.reader@hub.example' }),
    { id, email: 'the.seller@hub.example', role: 'reader' },
  ])
  const [gone] = await hub.query('select * from hub.members where id = $1', [seller.id])
  expect(gone).toMatchObject({ role: 'seller', password_hash: null })
  expect(gone?.removed_at).not.toBe(null)
  expect(
    await hub.query(
      'select from hub.members where removed_at is not null and link_hash is not null',
    ),
  ).toEqual([])
})
