import { afterAll, beforeAll, expect, test } from 'vitest'
import { everywhere } from '../../../hub/db/db.ts'
import {
  emailHash,
  forgetAddresses,
  readSalt,
  release,
  suppress,
} from '../../../hub/mail/suppression.ts'
import { startHub, type TestHub } from '../support/hub.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.close())

type Before = 'new' | 'bounced' | 'released' | 'unsubscribed'

test.each<[before: Before, reason: 'bounced' | 'unsubscribed', after: string, added: number]>([
  ['new', 'bounced', 'bounced', 1],
  ['new', 'unsubscribed', 'unsubscribed', 1],
  ['bounced', 'bounced', 'bounced', 0],
  ['bounced', 'unsubscribed', 'unsubscribed', 0],
  ['released', 'bounced', 'bounced', 1],
  ['released', 'unsubscribed', 'unsubscribed', 1],
  ['unsubscribed', 'bounced', 'unsubscribed', 0],
  ['unsubscribed', 'unsubscribed', 'unsubscribed', 0],
])(
  'of an address that is %s, %s leaves %s on the list, and adds %i',
  async (before, reason, after, added) => {
    const salt = await readSalt(hub.paths)
    const email = `${before}-${reason}@example.com`
    const hash = emailHash(salt, email)
    const add = (why: 'bounced' | 'unsubscribed') =>
      everywhere(hub.deps.db, (sql) => suppress(sql, salt, { emails: [email], reason: why }))
    if (before !== 'new') await add(before === 'unsubscribed' ? before : 'bounced')
    if (before === 'released') await everywhere(hub.deps.db, (sql) => release(sql, [hash]))
    expect(await add(reason)).toBe(added)
    expect(
      await hub.query('select reason, released_at from hub.suppression where email_hash = $1', [
        hash,
      ]),
    ).toEqual([{ reason: after, released_at: null }])
  },
)

test('an entry of the team has an address for 30 days and a typed way back, until its owner asks', async () => {
  const send = async (method: string, path: string, body?: object) => {
    const answer = await hub.call(method, path, body)
    return { status: answer.status, body: await answer.json() }
  }
  const entryOf = async (email: string) =>
    (await send('GET', `suppression?email=${encodeURIComponent(email)}`)).body.suppression[0]
  const emails = ['hand@team.example', 'asked@team.example', 'old@team.example']
  await send('POST', 'suppression/add', { emails, note: 'Asked by phone' })
  await send('POST', 'suppression/import', { text: 'list@team.example' })
  expect(await entryOf('HAND@team.example')).toMatchObject({
    email: 'hand@team.example',
    note: 'Asked by phone',
    reason: 'manual',
    releasable: true,
  })
  await hub.query(
    "update hub.suppression_addresses set shown_until = now() - interval '1 second' where email like 'old@%'",
  )
  expect(await entryOf('old@team.example')).toMatchObject({ email: null, releasable: true })

  const salt = await readSalt(hub.paths)
  await everywhere(hub.deps.db, (sql) =>
    suppress(sql, salt, { emails: ['asked@team.example'], reason: 'unsubscribed' }),
  )
  expect(await entryOf('asked@team.example')).toMatchObject({
    email: null,
    reason: 'unsubscribed',
    releasable: false,
  })
  const back = (email: string) => send('POST', 'suppression/release', { email })
  expect((await back('asked@team.example')).status).toBe(409)
  expect((await back('hand@team.example')).status).toBe(200)
  expect((await back('list@team.example')).status).toBe(200)
  expect((await back('hand@team.example')).status).toBe(404)
  expect(await entryOf('hand@team.example')).toBeUndefined()
  await everywhere(hub.deps.db, forgetAddresses)
  expect(await hub.query('select email from hub.suppression_addresses')).toEqual([])
})
