import { describe, expect, test } from 'vitest'
import type { AnyKind } from '../../../functions/channels/channel.ts'
import { CHANNEL_KINDS } from '../../../functions/channels/kinds.ts'
import { CHANNEL_MESSAGES } from '../../../shared/schemas/channel.ts'
import { LANGUAGES } from '../../../shared/words/texts.ts'
import { messageOf, NOTIFICATIONS, RECEIVERS, STYLES } from './samples.ts'

/** The kinds that write sentences; the others send data. */
const KINDS = [...CHANNEL_KINDS.values()].filter(({ kind }) => !['webhook', 'mqtt'].includes(kind))
const TYPES = Object.entries(NOTIFICATIONS)
/** What a message is when the first one about its alert was delivered: the two that a channel can change or follow. */
const REF: Record<string, string> = {
  discord: '1480000000000000001',
  telegram: '-1001234567890/77',
}

test('there is a receiver of every kind', () => {
  expect(Object.keys(RECEIVERS).sort()).toEqual(KINDS.map(({ kind }) => kind).sort())
})

test('there is a message of every type', () => {
  const types = TYPES.map(([, { type }]) => type)
  expect([...new Set(types)].sort()).toEqual([...CHANNEL_MESSAGES, 'channel.test'].sort())
})

describe.each(KINDS)('$kind', (kind) => {
  describe.each(LANGUAGES)('in %s', (language) => {
    test.each(TYPES)('%s reads as it was agreed', async (name, notification) => {
      const acknowledge_url =
        notification.type === 'alert.raised' ? 'https://watch.example/seen#abc' : null
      const message = messageOf(kind.kind, { ...STYLES[language], notification, acknowledge_url })
      await expect(await shown(kind, message)).toMatchFileSnapshot(
        `golden/${kind.kind}/${name.replace(' ', '.')}.${language}.txt`,
      )
    })
  })
})

describe.each(KINDS.filter(({ kind }) => REF[kind]))('$kind after the first message', (kind) => {
  test('changes it, and answers it when it got worse', async () => {
    for (const name of ['alert.ended', 'alert.escalated'] as const) {
      const notification = NOTIFICATIONS[name]
      const message = messageOf(kind.kind, { notification, remote_ref: REF[kind.kind] ?? null })
      await expect(await shown(kind, message)).toMatchFileSnapshot(
        `golden/${kind.kind}/${name}.later.txt`,
      )
    }
  })
})

/** A request as a person can read it: its body in lines. */
async function shown(kind: AnyKind, message: ReturnType<typeof messageOf>): Promise<string> {
  const request = await kind.render(message)
  if (request.transport === 'mail') return `${request.subject}\n\n${request.text}\n`
  if (request.transport === 'mqtt') throw new Error('it sends data')
  if (request.transport === 'push') {
    const { urgency, topic, ttl_seconds, payload } = request
    const lines = JSON.stringify(JSON.parse(payload), null, 2).replace(/\\n/g, '\n      ')
    return `${urgency}, topic ${topic}, ${ttl_seconds} s\n${lines}\n`
  }
  const { method, url, headers, body } = request
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded')
  const fields = isForm ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body)
  const lines = JSON.stringify(fields, null, 2).replace(/\\n/g, '\n        ')
  return `${method} ${url}\n${lines}\n`
}
