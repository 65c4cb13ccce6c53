import { describe, expect, test } from 'vitest'
import { readReport } from '../../../../hub/mail/imap/report.ts'

const OURS = '<ours@demir.example>'
const STATUS = 'Final-Recipient: rfc822; dead@client.example\nAction: failed\nStatus: 5.1.1'
const RETURNED: [string, string] = ['message/rfc822', `Message-ID: ${OURS}\n\nHello`]

/** A report of these parts, each with its type. */
const reportOf = (type: string, parts: [string, string][], head = '') => {
  const body = parts.map(([of, text]) => `--b\nContent-Type: ${of}\n\n${text}\n`).join('')
  const mail = `${head}MIME-Version: 1.0\nContent-Type: ${type}; boundary=b\n\n${body}--b--\n`
  return readReport(Buffer.from(mail.replaceAll('\n', '\r\n')))
}
const DELIVERY = 'multipart/report; report-type=delivery-status'
const bounceOf = (fields: string) =>
  reportOf(DELIVERY, [['message/delivery-status', `Reporting-MTA: dns; x\n\n${fields}`], RETURNED])
const FEEDBACK = 'multipart/report; report-type=feedback-report'

test.each([
  'multipart/report; report-type=delivery-status',
  'Multipart/Report; Report-Type="Delivery-Status"',
  'multipart/report ; report-type = delivery-status',
])('a bounce is known by its type: %s', async (type) => {
  const report = await reportOf(type, [['message/delivery-status', STATUS], RETURNED])
  expect(report).toEqual({
    kind: 'bounce',
    original_ids: [OURS],
    bounced: [{ emails: ['dead@client.example'], status: '5.1.1', permanent: true }],
  })
})

test.each([
  'multipart/mixed; report-type=delivery-status',
  'multipart/reports; report-type=delivery-status',
  'multipart/report; report-type=disposition-notification',
  'multipart/report; x=y',
  'multipart/mixed;x=multipart/report; report-type=delivery-status',
])('nothing else is one: %s', async (type) => {
  expect(await reportOf(type, [['message/delivery-status', STATUS], RETURNED])).toBeNull()
})

test.each<[string, string, string, boolean]>([
  ['failed', '5.1.1', '5.1.1', true],
  [' FAILED ', '5.1.1', '5.1.1', true],
  ['failed', ' 5.100.999 (no such user)', '5.100.999', true],
  ['failed', '4.4.1', '4.4.1', false],
  ['delayed', '4.4.1', '4.4.1', false],
  ['delayed', '5.1.1', '5.1.1', false],
])(
  'an address that %j with %j has the status %s; for good: %s',
  async (action, given, status, permanent) => {
    const report = await bounceOf(
      `Final-Recipient: rfc822; dead@client.example\nAction: ${action}\nStatus: ${given}`,
    )
    expect(report?.bounced).toEqual([{ emails: ['dead@client.example'], status, permanent }])
  },
)

test.each([
  ['it was delivered', STATUS.replace('5.1.1', '2.0.0')],
  ['it was delivered', STATUS.replace('failed', 'delivered')],
  ['it was relayed', STATUS.replace('failed', 'relayed')],
  ['it has no action', STATUS.replace('Action: failed\n', '')],
  ['it has no status', STATUS.replace('\nStatus: 5.1.1', '')],
  ['its status is short', STATUS.replace('5.1.1', '5.1')],
  ['its status is long', STATUS.replace('5.1.1', '5.1.1000')],
  ['its status is of no class', STATUS.replace('5.1.1', '3.1.1')],
  ['its status stands behind a word', STATUS.replace('5.1.1', 'about 5.1.1')],
  ['its status stands behind a letter', STATUS.replace('5.1.1', 'x5.1.1')],
  ['it names no address', STATUS.replace('dead@client.example', 'dead')],
])('a block is no bounce when %s', async (_, fields) => {
  expect(await bounceOf(fields)).toBeNull()
})

test('names the address that was written to and the one it was handed on to', async () => {
  const told =
    'Original-Recipient: rfc822; <Old@Client.example>\nFinal-Recipient: new@client.example'
  const report = await bounceOf(`${told}\nAction: failed\nStatus: 5.2.1`)
  expect(report?.bounced[0]?.emails).toEqual(['old@client.example', 'new@client.example'])
})

test('reads parts that are packed as base64, whatever ends their lines', async () => {
  const packed = (type: string, text: string): [string, string] => [
    `${type}\nContent-Transfer-Encoding: base64`,
    Buffer.from(text.replaceAll('\n', '\r\n')).toString('base64'),
  ]
  const report = await reportOf(DELIVERY, [
    packed('message/delivery-status', `Reporting-MTA: dns; x\n\n${STATUS}`),
    packed('text/rfc822-headers', `Subject: x\nMessage-ID: ${OURS}\n\n<none@x>`),
  ])
  expect(report).toMatchObject({ original_ids: [OURS], bounced: [{ status: '5.1.1' }] })
})

test('a space before the colon of a field is none of its name', async () => {
  expect(await bounceOf(STATUS.replaceAll(':', ' :'))).toMatchObject({
    bounced: [{ emails: ['dead@client.example'] }],
  })
})

test('has a block for each address, and a hundred at most', async () => {
  const many = (count: number, space = '\n\n') =>
    Array.from({ length: count }, (_, nth) => STATUS.replace('dead', `dead${nth}`)).join(space)
  for (const space of ['\n\n', '\n \t\n']) {
    const report = await bounceOf(many(2, space))
    expect(report?.bounced.map(({ emails }) => emails)).toEqual([
      ['dead0@client.example'],
      ['dead1@client.example'],
    ])
  }
  expect((await bounceOf(many(101)))?.bounced).toHaveLength(100)
})

test.each(['message/delivery-status', 'message/global-delivery-status', 'Message/Delivery-Status'])(
  'its fields stand in a part of the type %s',
  async (type) => {
    expect((await reportOf(DELIVERY, [[type, STATUS]]))?.kind).toBe('bounce')
  },
)

test.each(['text/plain', 'message/delivery-status-x', 'x-message/delivery-status'])(
  'and not in one of the type %s',
  async (type) => {
    expect(await reportOf(DELIVERY, [[type, STATUS]])).toBeNull()
  },
)

describe('the mail that came back', () => {
  const idsOf = async (type: string, text: string, head = '') =>
    (
      await reportOf(
        DELIVERY,
        [
          ['message/delivery-status', STATUS],
          [type, text],
        ],
        head,
      )
    )?.original_ids

  test.each([
    'message/rfc822',
    'message/rfc822-headers',
    'message/global',
    'message/global-headers',
    'text/rfc822-headers',
    'Text/RFC822-Headers',
  ])('is known by its own id in a part of the type %s', async (type) => {
    expect(await idsOf(type, `Subject: x\nMessage-ID: ${OURS}\n\nHello`)).toEqual([OURS])
  })

  test.each(['text/plain', 'text/rfc822-headers-x', 'x-message/rfc822'])(
    'is not in a part of the type %s',
    async (type) => {
      expect(await idsOf(type, `Message-ID: ${OURS}\n\nHello`)).toEqual([])
    },
  )

  test('is known by what its server called it, and by the thread, each once', async () => {
    const text = `X-Original-Message-ID: <a@x>\nMessage-ID: ${OURS}\n\nHello`
    const head = `In-Reply-To: <b@x>\nReferences: ${OURS} <c@x>\n`
    expect(await idsOf('message/rfc822', text, head)).toEqual([OURS, '<a@x>', '<b@x>', '<c@x>'])
  })

  test.each(['\n', '\n\n', ' \n\n'])(
    'is known when its part begins with empty lines: %j',
    async (before) => {
      const text = `${before}Message-ID: ${OURS}\n\nHello`
      expect(await idsOf('message/rfc822', text)).toEqual([OURS])
    },
  )

  test('is not known by what stands in its text', async () => {
    expect(await idsOf('message/rfc822', `\nSubject: x\n\nMessage-ID: ${OURS}`)).toEqual([])
    expect(await idsOf('message/rfc822', `Subject: x\n \t\nMessage-ID: ${OURS}`)).toEqual([])
  })
})

test.each(['abuse', 'fraud', 'opt-out', 'ABUSE'])('a complaint says %s', async (said) => {
  const feedback: [string, string] = [
    'message/feedback-report',
    `Feedback-Type: ${said}\nVersion: 1`,
  ]
  expect(await reportOf(FEEDBACK, [feedback, RETURNED])).toEqual({
    kind: 'complaint',
    original_ids: [OURS],
    bounced: [],
  })
})

test.each([
  ['message/feedback-report', 'Feedback-Type: not-spam'],
  ['message/feedback-report', 'Feedback-Type: abuse-x'],
  ['message/feedback-report', 'Feedback-Type: no abuse'],
  ['message/feedback-report', 'Version: 1'],
  ['message/feedback-report-x', 'Feedback-Type: abuse'],
  ['x-message/feedback-report', 'Feedback-Type: abuse'],
  ['text/plain', 'Feedback-Type: abuse'],
])('a %s with %s is none', async (type, text) => {
  expect(await reportOf(FEEDBACK, [[type, text], RETURNED])).toBeNull()
})

test.each(['disposition-notification', 'delivery-status'])(
  'a report of the kind %s is no complaint, whatever its parts say',
  async (kind) => {
    const parts: [string, string][] = [['message/feedback-report', 'Feedback-Type: abuse']]
    expect(await reportOf(`multipart/report; report-type=${kind}`, parts)).toBeNull()
    expect(await reportOf('multipart/report; x=y', parts)).toBeNull()
  },
)

test('a mail with parts nested without end is no report', async () => {
  let part = `Content-Type: message/delivery-status\n\n${STATUS}`
  for (let depth = 0; depth < 25; depth += 1) {
    part = `Content-Type: multipart/mixed; boundary=b${depth}\n\n--b${depth}\n${part}\n--b${depth}--\n`
  }
  const [head = '', ...body] = part.split('\n\n')
  const mail = `${head.replace('mixed', 'report; report-type=delivery-status')}\n\n${body.join('\n\n')}`
  expect(await readReport(Buffer.from(mail))).toBeNull()
})
