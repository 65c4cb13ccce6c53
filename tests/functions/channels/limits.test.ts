/** How long each part of a message may be, and how much one message of a digest carries: to the last character. */
import { describe, expect, test } from 'vitest'
import type { Notification } from '../../../functions/channels/channel.ts'
import { CHANNEL_KINDS } from '../../../functions/channels/kinds.ts'
import { alertOf, messageOf, NOTIFICATIONS, STYLES } from './samples.ts'

const LONG = 'x'.repeat(6_000)
const bytes = (text: string) => Buffer.byteLength(text)
const json = (text: string) => bytes(JSON.stringify(text)) - 2
const characters = (text: string) => [...text].length

const longAlert = (zone_name = LONG) =>
  alertOf({
    title: LONG,
    current: { subject: LONG },
    more: { zone_name, reason: LONG, attribution: LONG },
  })
const zone = { id: 'z', label: LONG }
const RAISED: Notification = {
  ...NOTIFICATIONS['alert.raised'],
  ...{ alert: longAlert(), zone, facts: {} },
}
/** Of two zones, so that each item names its own. */
const DIGEST: Notification = {
  ...NOTIFICATIONS['alert.digest'],
  ...{ alerts: [longAlert(), longAlert(`${LONG}y`)], zone: { id: 'z', label: 'Home' }, facts: {} },
}

function kindOf(name: string) {
  const kind = CHANNEL_KINDS.get(name)
  if (!kind) throw new Error(`there is no ${name}`)
  return kind
}

/** The body that a channel sends, in its parts. */
async function sent(
  name: string,
  notification: Notification,
  acknowledge_url = null as null | string,
) {
  const message = messageOf(name, { notification, acknowledge_url })
  const request = await kindOf(name).render(message)
  if (request.transport === 'push') return JSON.parse(request.payload).notification
  if (request.transport === 'mail') return request
  const body = 'body' in request ? request.body : ''
  return name === 'pushover' ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body)
}

describe('a part of a message is cut at', () => {
  test('Discord', async () => {
    const [embed] = (await sent('discord', RAISED)).embeds
    const [heading, text] = embed.description.split('\n')
    const { value } = embed.fields.find(({ name }: { name: string }) => name === 'Followed')
    const parts = [embed.title, heading, text, value, embed.footer.text]
    expect(parts.map(characters)).toEqual([240, 1_500, 1_500, 970, 700])
    const [item] = (await sent('discord', DIGEST)).embeds
    const [line, reason] = item.description.split('\n')
    expect([item.title, line, reason].map(characters)).toEqual([240, 400, 400])
  })

  test('Slack', async () => {
    const { text, blocks } = await sent('slack', RAISED)
    const followed = blocks[2].fields.at(-1).text.replace('*Followed*\n', '')
    const parts = [text, blocks[0].text.text, blocks[1].text.text, followed]
    const footer = blocks.at(-1).elements[0].text
    expect([...parts, footer].map((part) => part.length)).toEqual([300, 140, 2_800, 1_900, 1_900])
  })

  test('Teams', async () => {
    const textsOf = async (notification: Notification) => {
      const [{ content }] = (await sent('teams', notification)).attachments
      const [head, ...rest] = content.body
      return [
        ...head.items,
        ...rest,
        ...rest.flatMap((one: { items?: object[] }) => one.items ?? []),
      ]
        .map(({ inlines = [] }) => inlines.at(-1)?.text ?? '')
        .filter((text) => text.length > 100)
        .map(json)
    }
    expect(await textsOf(RAISED)).toEqual([2_100, 600, 4_000, 500, 1_000])
    const item = [2_100, 600, 1_500]
    expect(await textsOf(DIGEST)).toEqual([1_000, ...item, ...item])
  })

  test('Telegram', async () => {
    const { text } = await sent('telegram', RAISED)
    const long = (text as string)
      .split('\n')
      .map((line) => line.replace(/^🟠 |^Followed: |<[^>]+>/gu, ''))
      .filter((line) => line.length > 100)
    expect(long.map((line) => line.length)).toEqual([300, 900, 900, 900, 900])
  })

  test('PagerDuty', async () => {
    const { payload } = await sent('pagerduty', RAISED)
    const { reason, Followed, attribution } = payload.custom_details
    const parts = [payload.summary, payload.group, reason, Followed, attribution]
    expect(parts.map(characters)).toEqual([970, 970, 2_000, 2_000, 2_000])
  })

  test('Pushover, where the link on which it is acknowledged stays whole', async () => {
    const { title, message } = await sent('pushover', RAISED)
    expect([title, message].map(characters)).toEqual([240, 970])
    const link = `https://watch.example/${'a'.repeat(100)}`
    const linked = await sent('pushover', RAISED, link)
    expect(characters(linked.message)).toBe(970)
    expect(linked.message).toMatch(new RegExp(`… \\(shortened\\)\\nI have seen it: ${link}$`))
  })

  test('ntfy', async () => {
    const { title, message } = await sent('ntfy', RAISED)
    expect([title, message].map(bytes)).toEqual([400, 3_900])
  })

  test('a browser', async () => {
    const { title, body } = await sent('webpush', RAISED)
    expect([title.length, bytes(body)]).toEqual([120, 2_000])
  })

  test('a mail, whose answers have the same subject', async () => {
    const { subject } = await sent('email', RAISED)
    expect(characters(subject)).toBe(150)
    const ended = { ...RAISED, type: 'alert.ended' } as const
    expect((await sent('email', ended)).subject).toBe(`Re: ${subject}`)
  })
})

describe('a message of a digest carries', () => {
  type Where = 'label' | 'reason' | 'title'
  /** A digest with so many characters in the name of its zone, or in this part of its alerts, at most `each` in one. */
  const digest = (count: number, length: number, [where, each]: [Where, number]) => {
    const text = (n: number) => 'x'.repeat(Math.max(0, Math.min(length - each * n, each)))
    const alerts = Array.from({ length: count }, (_, n) =>
      alertOf({
        id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
        title: where === 'title' ? `M 5 ${text(n)}`.trim() : 'M 5',
        more: { reason: where === 'reason' ? text(n) : '' },
      }),
    )
    const label = where === 'label' ? text(0) : 'Home'
    return { ...NOTIFICATIONS['alert.digest'], alerts, zone: { id: 'z', label }, facts: {} }
  }
  const total = (texts: string[]) => texts.reduce((sum, text) => sum + text.length, 0)

  type Told = Awaited<ReturnType<typeof sent>>
  type Embed = { title: string; description: string; footer?: { text: string } }
  type Block = { text?: { text: string }; elements?: { text: string }[] }
  const sizeOf: Record<string, (told: Told) => number> = {
    'characters of Discord': ({ content }) => content.length,
    'characters in the embeds of Discord': ({ embeds }) =>
      total(embeds.map((one: Embed) => one.title + one.description + (one.footer?.text ?? ''))),
    'characters of Telegram, without markup': ({ text }) => text.replace(/<[^>]*>/g, '').length,
    'characters of Slack': ({ blocks }) =>
      total(blocks.flatMap(({ text, elements = [] }: Block) => [text, ...elements]).map(textOf)),
    'bytes of Teams': (told) => bytes(JSON.stringify(told)),
    'bytes of ntfy': ({ message }) => bytes(message),
    'characters of Pushover': ({ message }) => characters(message),
    'bytes of a browser': ({ body }) => bytes(body),
    'bytes of a mail': ({ text, html }) => bytes(text) + bytes(html),
  }
  const textOf = (part?: { text: string }) => part?.text ?? ''

  test.each<[number, string, string, number, [Where, number]]>([
    [1_800, 'characters of Discord', 'discord', 1, ['label', 9_999]],
    [5_700, 'characters in the embeds of Discord', 'discord', 10, ['reason', 400]],
    [3_890, 'characters of Telegram, without markup', 'telegram', 8, ['reason', 900]],
    [12_000, 'characters of Slack', 'slack', 8, ['reason', 2_500]],
    [20_000, 'bytes of Teams', 'teams', 16, ['reason', 1_500]],
    [3_900, 'bytes of ntfy', 'ntfy', 2, ['reason', 9_999]],
    [970, 'characters of Pushover', 'pushover', 2, ['title', 9_999]],
    [2_000, 'bytes of a browser', 'webpush', 2, ['title', 9_999]],
    [90_000, 'bytes of a mail', 'email', 1, ['reason', 99_999]],
  ])('%i %s', async (limit, what, name, count, where) => {
    const { fits } = kindOf(name)
    const isShort = (length: number) => fits(digest(count, length, where), STYLES.en)
    let most = 0
    for (let step = 65_536; step >= 1; step /= 2) if (isShort(most + step)) most += step
    const size = sizeOf[what]?.(await sent(name, digest(count, most, where))) ?? 0
    // In a mail each character stands twice.
    expect(size).toBeOneOf(name === 'email' ? [limit - 1, limit] : [limit])
  })

  test.each([
    ['discord', 10],
    ['slack', 23],
    ['pagerduty', 1],
  ])('of %s %i alerts, however short', (name, most) => {
    const { fits } = kindOf(name)
    const isShort = (count: number) => fits(digest(count, 0, ['reason', 0]), STYLES.en)
    expect([isShort(most), isShort(most + 1)]).toEqual([true, false])
  })
})
