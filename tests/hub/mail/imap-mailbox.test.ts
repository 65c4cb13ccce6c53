import { expect, test } from 'vitest'
import golden from './golden/imap.json' with { type: 'json' }
import { appender, readAll } from './imap-mails.ts'
import { startImap } from './imap-stand-in.ts'

/** With IMAP_TEST_PORT, _USER and _PASSWORD of a server on this machine, that one must tell the same. */
const { IMAP_TEST_PORT, IMAP_TEST_USER = '', IMAP_TEST_PASSWORD = '' } = process.env
const HERE = { host: '127.0.0.1', security: 'none' as const, mailbox: 'INBOX' }

/** The golden mails are as the hub read them from Dovecot 2.3.19. */
test('the stand-in tells of a mailbox what a Dovecot told', async () => {
  const server = await startImap()
  const settings = { ...HERE, port: server.port, user: 'ayse', password: 'right' }
  expect(await readAll(settings, server.deliver)).toEqual(golden)
  await server.close()
})

if (IMAP_TEST_PORT) {
  test('the server that is named tells it as ever', async () => {
    const login = { user: IMAP_TEST_USER, password: IMAP_TEST_PASSWORD }
    const settings = { ...HERE, port: Number(IMAP_TEST_PORT), ...login }
    const { append, close } = await appender(settings)
    expect(await readAll(settings, append)).toEqual(golden)
    await close()
  })
}
