import { expect, test } from 'vitest'
import golden from '../golden/listmonk.json' with { type: 'json' }
import { converse } from './listmonk-conversation.ts'
import { startSink } from './listmonk-dialogue.ts'
import { startListmonk } from './listmonk-stand-in.ts'

const { LISTMONK_TEST_URL: url, LISTMONK_TEST_USER = '', LISTMONK_TEST_TOKEN = '' } = process.env

/** The golden answers are those of listmonk 6.2.0. */
test('the stand-in answers as a real listmonk does', async () => {
  const sink = await startSink()
  const standIn = await startListmonk({ smtp: { host: '127.0.0.1', port: sink.port } })
  const answers = await converse({ ...standIn, received: sink.received })
  expect(answers).toEqual(golden)
  await standIn.close()
  await sink.close()
})

if (url) {
  test('the listmonk that is named answers as ever', async () => {
    const sink = await startSink(Number(process.env.LISTMONK_TEST_SMTP_PORT ?? 2525))
    const { received } = sink
    const real = { url, user: LISTMONK_TEST_USER, token: LISTMONK_TEST_TOKEN, received }
    expect(await converse(real)).toEqual(golden)
    await sink.close()
  })
}
