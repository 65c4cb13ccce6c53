import { expect, test } from 'vitest'
import { CHANNEL_KINDS } from '../../functions/channels/kinds.ts'
import { failedSend } from '../../functions/channels/transport/send.ts'
import { failuresText } from '../../web/event/failures.text.ts'

const { en, tr } = failuresText
const english = /\b(?:the|answered|attempts?|delivered|was|were)\b/i

test.each(['refused', 'unresolvable', 'unreachable', 'tls', 'timeout'] as const)(
  'that a send failed (%s) is told in Turkish',
  (failure) => {
    const { message } = failedSend(failure) as { message: string } // safe: it has failed
    expect(message).toMatch(english)
    expect(en.say(message)).toBe(message)
    expect(tr.say(message)).not.toMatch(english)
  },
)

test.each([
  'webhook',
  'slack',
  'discord',
  'telegram',
  'teams',
  'pagerduty',
  'ntfy',
  'pushover',
  'webpush',
] as const)(
  'what a %s answered is told in Turkish, and what the service adds is quoted',
  (name) => {
    const answer = {
      ok: true,
      status: 500,
      body: 'no luck',
      headers: new Headers(),
      duration_ms: 1,
    } as const
    const { error = '' } = CHANNEL_KINDS.get(name)?.classify(answer, new Date()) ?? {}
    expect(error).toMatch(/ answered (HTTP )?500/)
    const [said = ''] = tr.say(error).split(' Hizmetin açıklaması: ')
    expect(said).toContain(' HTTP 500 yanıtını verdi')
    expect(said).not.toMatch(english)
  },
)

test.each([
  [
    'Slack answered HTTP 404: channel_is_archived. That is, the channel is archived.',
    'Slack HTTP 404 yanıtını verdi: channel_is_archived. Hizmetin açıklaması: “That is, the channel is archived.”',
  ],
  [
    'It could not be delivered before its deadline. There were 3 attempts, the last with: The receiver answered HTTP 503.',
    'Süresi dolmadan iletilemedi: 3 deneme yapıldı, sonuncusu: Alıcı HTTP 503 yanıtını verdi.',
  ],
  [
    'It could not be delivered before its deadline. There was one attempt, the last with: The target did not answer in time.',
    'Süresi dolmadan iletilemedi: 1 deneme yapıldı, sonuncusu: Hedef zamanında yanıt vermedi.',
  ],
  ['Something else.', 'Something else.'],
  ['constructor', 'constructor'],
])('%s', (failure, expected) => {
  expect(tr.say(failure)).toBe(expected)
})
