import { expect, test } from 'vitest'
import { cardOf } from '../../../functions/channels/message/card.ts'

const channel = {
  id: 'bde6f00c-9323-4fd3-a73e-a8e2ad69ee7a',
  kind: 'slack',
  label: 'On call',
  status: 'failing',
  since: '2026-03-01T13:03:00.000Z',
  reason: 'The receiver answered HTTP 503.',
}
const about = (type: 'channel.failing' | 'channel.recovered', language: 'en' | 'tr') =>
  cardOf({
    language,
    time_zone: 'UTC',
    notification: {
      type,
      timestamp: '2026-03-01T14:08:00.000Z',
      alert: null,
      zone: null,
      channel: { ...channel, until: '2026-03-01T14:03:00.000Z' },
    },
  })

test.each(['en', 'tr'] as const)(
  'a message about another channel says which and why: %s',
  (language) => {
    const failing = about('channel.failing', language)
    expect(failing).toMatchObject({ tone: 'blind', at: null })
    expect(failing.title).toContain('On call')
    expect(failing.text).toContain('The receiver answered HTTP 503.')
    const recovered = about('channel.recovered', language)
    expect(recovered.tone).toBe('well')
    expect(recovered.title).toContain('On call')
    expect(recovered.title).not.toBe(failing.title)
  },
)
