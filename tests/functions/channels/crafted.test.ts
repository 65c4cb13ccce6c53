import { describe, expect, test } from 'vitest'
import type { Notification } from '../../../functions/channels/channel.ts'
import { CHANNEL_KINDS } from '../../../functions/channels/kinds.ts'
import { splitDigest } from '../../../functions/channels/message/digest.ts'
import { CRAFTED, expectWhole, textsIn } from './provider.ts'
import { alertOf, digestOf, messageOf, NOTIFICATIONS, STYLES } from './samples.ts'

const render = async (kind: string, notification: Notification, over = {}) => {
  const request = await CHANNEL_KINDS.get(kind)?.render(messageOf(kind, { notification, ...over }))
  const body = request && 'body' in request ? String(request.body) : ''
  return kind === 'pushover' ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body)
}
const bytes = (text: string) => new TextEncoder().encode(text).length

/** What each service refuses, by its documentation; what Slack refuses is in slack.test.ts. */
const REFUSALS: Record<string, (body: Record<string, never>) => string[]> = {
  discord({ content = '', embeds }: { content?: string; embeds: Record<string, never>[] }) {
    const of = (embed: Record<string, never>) => {
      const {
        title = '',
        description = '',
        fields = [],
        footer = { text: '' },
      } = embed as unknown as {
        title: string
        description: string
        fields: { name: string; value: string }[]
        footer: { text: string }
      }
      const sizes = [...fields.map(({ name, value }) => name.length + value.length)]
      return {
        total: [title, description, footer.text].join('').length + sizes.reduce((a, b) => a + b, 0),
        wrong: [
          ...(title.length > 256 ? ['title'] : []),
          ...(description.length > 4096 ? ['description'] : []),
          ...(fields.length > 25 ? ['fields'] : []),
          ...(fields.some(({ name, value }) => !value || !name || value.length > 1024)
            ? ['field']
            : []),
          ...(footer.text.length > 2048 ? ['footer'] : []),
        ],
      }
    }
    const judged = embeds.map(of)
    return [
      ...judged.flatMap(({ wrong }) => wrong),
      ...(content.length > 2000 ? ['content'] : []),
      ...(embeds.length > 10 ? ['embeds'] : []),
      ...(judged.reduce((sum, { total }) => sum + total, 0) > 6000 ? ['total'] : []),
    ]
  },
  telegram({ text }: { text: string }) {
    const open: string[] = []
    for (const [, slash, name = ''] of text.matchAll(/<(\/?)(\w+)[^<>]*>/g)) {
      if (!slash) open.push(name)
      else if (open.pop() !== name) return ['tags']
    }
    const rest = text.replace(/<a href="https?:[^"<>]+">|<\/?(a|b|i)>/g, '')
    const seen = rest.replace(/&(amp|lt|gt);/g, '.')
    return [
      ...(open.length > 0 ? ['tags'] : []),
      ...(/[<>&]/.test(seen) ? ['markup'] : []),
      ...(seen.length > 4096 ? ['length'] : []),
    ]
  },
  ntfy(body: { message: string; title: string }) {
    return [
      ...(bytes(body.message) > 4096 ? ['message'] : []),
      ...(bytes(JSON.stringify(body)) > 8192 ? ['body'] : []),
    ]
  },
  teams(body: { attachments: { content: { body: unknown } }[] }) {
    const marked: string[] = []
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      const { type, text } = value as { type?: string; text?: string }
      if (type === 'TextBlock') marked.push(text ?? '')
      Object.values(value).forEach(walk)
    }
    walk(body)
    const rest = marked.map((text) =>
      text.replace(/\[(Map|Source|Harita|Kaynak)\]\(https?:[^()\s]+\)/g, ''),
    )
    return [
      ...(bytes(JSON.stringify(body)) > 28_000 ? ['size'] : []),
      ...(rest.some((text) => /[[\]()*_]/.test(text)) ? ['markup'] : []),
    ]
  },
  pushover({
    title,
    message,
    url = '',
    html,
  }: {
    title: string
    message: string
    url: string
    html: string
  }) {
    return [
      ...([...title].length > 250 ? ['title'] : []),
      ...([...message].length > 1024 || message === '' ? ['message'] : []),
      ...(url.length > 512 ? ['url'] : []),
      ...(html ? ['html'] : []),
    ]
  },
  pagerduty({ payload }: { payload?: { summary: string } }) {
    return payload && [...payload.summary].length > 1024 ? ['summary'] : []
  },
} as never

describe.each(Object.keys(REFUSALS))('%s', (kind) => {
  const refused = (body: never) => REFUSALS[kind]?.(body)

  test.each(CRAFTED)('takes %j as text', async (title) => {
    const current = { url: 'https://evil.example/a|b>c)d"e' }
    const alert = alertOf({ title, current, more: { attribution: title } })
    const zone = { id: 'z', label: title.slice(0, 120).toWellFormed() }
    for (const name of ['alert.raised', 'alert.digest'] as const) {
      const given = NOTIFICATIONS[name]
      const alerts = 'alerts' in given && given.alerts ? { alerts: [alert] } : {}
      const body = await render(kind, { ...given, alert, zone, ...alerts } as Notification)
      expectWhole(JSON.stringify(body))
      expect(refused(body as never)).toEqual([])
      for (const text of textsIn(body)) expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\0]/)
    }
  })

  test('says where a text was cut', async () => {
    const alert = alertOf({ title: 'long '.repeat(500) })
    const body = await render(kind, { ...NOTIFICATIONS['alert.raised'], alert })
    expect(JSON.stringify(body)).toMatch(/… \\*\(shortened\\*\)/)
  })

  test.each([1, 9, 10, 11, 60])(
    'splits a digest of %i alerts into messages that it takes',
    async (count) => {
      for (const title of [undefined, 'ğ&<*_>'.repeat(80)]) {
        const given = digestOf(count, title ? { title } : {})
        const { fits } = CHANNEL_KINDS.get(kind) ?? {}
        const parts = await splitDigest({ ...given, alerts: given.alerts ?? [] }, (part) =>
          Boolean(fits?.(part, STYLES.tr)),
        )
        expect(parts.flatMap(({ alerts }) => alerts)).toHaveLength(count)
        for (const part of parts) {
          const body = await render(kind, part, STYLES.tr)
          expect(refused(body as never)).toEqual([])
          if (parts.length > 1 && part.alerts.length > 1)
            expect(JSON.stringify(body)).not.toContain('kısaltıldı…')
        }
      }
    },
  )
})

test('Discord pings nobody and shows no hidden link', async () => {
  const title = '@everyone <@1> [bank](https://evil.example)'
  const body = await render('discord', {
    ...NOTIFICATIONS['alert.raised'],
    alert: alertOf({ title }),
  })
  expect(body.allowed_mentions).toEqual({ parse: [] })
  expect(body.embeds[0].title).toBe('\\@everyone \\<\\@1\\> \\[bank\\]\\(https://evil.example\\)')
})
