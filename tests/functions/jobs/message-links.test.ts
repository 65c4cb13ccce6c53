/** Which signed links a message has, for whom, and for how long they are good. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Notification, NotificationType } from '../../../functions/channels/channel.ts'
import { linksOf } from '../../../functions/jobs/message-links.ts'
import type { JobContext } from '../../../functions/jobs/queue.ts'
import { LINK_PURPOSES, type LinkPurpose, readLink } from '../../../functions/links.ts'
import { createSeal } from '../../../functions/seal.ts'

const HOUR = 60 * 60_000
const FIRST = Date.parse('2026-03-01T12:00:00Z')
const seal = createSeal([Buffer.alloc(32, 1).toString('base64')])
const ids = { alert_id: randomUUID(), channel_id: randomUUID(), confirmation_id: randomUUID() }

type Given = {
  kind: string
  type: NotificationType
  alert?: Notification['alert']
  public_url?: null
}

async function linksFor({ kind, type, alert = { id: ids.alert_id }, ...over }: Given) {
  const { channel_id, confirmation_id } = ids
  const deps = { seal, public_url: 'https://watch.example', ...over }
  // safe: all that it reads
  const context = { deps, step: async () => [{ confirmation_id }] } as unknown as JobContext
  const first_attempt_at = new Date(FIRST).toISOString()
  const notification = { type, timestamp: first_attempt_at, alert, zone: null }
  return linksOf(context, { channel_id, kind, type, first_attempt_at }, { notification })
}

const HOURS = { acknowledge: 7 * 24, 'confirm-address': 48, unsubscribe: 400 * 24 } as const

/** The purpose of a link, which is good for its hours and not a moment longer. */
async function purposeOf(url: string | null | undefined): Promise<LinkPurpose | null> {
  if (!url) return null
  const token = new URL(url).searchParams.get('token') ?? ''
  for (const purpose of LINK_PURPOSES) {
    const last = new Date(FIRST + HOURS[purpose] * HOUR - 1)
    const link = await readLink(seal, { purpose, token, now: last })
    if (!link) continue
    expect(ids).toMatchObject(link.subject)
    const over = await readLink(seal, { purpose, token, now: new Date(last.getTime() + 1) })
    expect([link.is_expired, over?.is_expired]).toEqual([false, true])
    return purpose
  }
  throw new Error('a link that was not signed here')
}

test.each<[string, NotificationType, string[]]>([
  ['slack', 'alert.raised', ['acknowledge']],
  ['slack', 'alert.revised', ['acknowledge']],
  ['slack', 'alert.escalated', ['acknowledge']],
  ['slack', 'alert.ended', []],
  ['slack', 'alert.acknowledged', []],
  ['slack', 'alert.digest', []],
  ['webhook', 'alert.raised', []],
  ['email', 'alert.raised', ['acknowledge', 'unsubscribe']],
  ['email', 'alert.digest', ['unsubscribe']],
  ['email', 'channel.test', ['unsubscribe']],
  ['email', 'channel.confirmation', ['confirm-address']],
])('by %s, %s: %j', async (kind, type, purposes) => {
  const { acknowledge_url, confirm_url, unsubscribe_url } = await linksFor({ kind, type })
  const found = await Promise.all([acknowledge_url, confirm_url, unsubscribe_url].map(purposeOf))
  expect(found.filter((purpose) => purpose !== null)).toEqual(purposes)
})

test('a message has none where this service does not know its address, or there is no alert', async () => {
  const none = { acknowledge_url: null }
  expect(await linksFor({ kind: 'email', type: 'alert.raised', public_url: null })).toEqual(none)
  expect(await linksFor({ kind: 'slack', type: 'alert.raised', alert: null })).toEqual(none)
})
