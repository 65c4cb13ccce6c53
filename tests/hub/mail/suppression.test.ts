import { afterAll, beforeAll, expect, test } from 'vitest'
import { everywhere } from '../../../hub/db/db.ts'
import { emailHash, readSalt, release, suppress } from '../../../hub/mail/suppression.ts'
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
