import { createServer, type Socket } from 'node:net'
import { simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, test } from 'vitest'
import {
  checkSmtp,
  messageId,
  type OutgoingMail,
  type SmtpSettings,
  sendMail,
} from '../../../hub/mail/smtp/smtp.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const mail: OutgoingMail = {
  from: { name: 'Ayşe Demir', address: 'ayse@demir.example' },
  to: { name: 'Jo "the boss", Ltd', address: 'jo@client.example' },
  subject: 'Günaydın — a question',
  html: `<p>Günaydın</p><img src="${PIXEL}" alt="">`,
  text: 'Günaydın\n.\nA line that starts with a dot stays.',
  message_id: messageId('4f6c', 'Jo@client.example', 'ayse@demir.example'),
  date: new Date('2026-11-21T09:00:00Z'),
  unsubscribe_url: `https://hub.example/u/${'x'.repeat(120)}`,
  in_reply_to: '<first@demir.example>',
}

async function server(
  options: SMTPServerOptions,
): Promise<{ port: number; received: string[]; drop: () => void }> {
  const received: string[] = []
  const sockets = new Set<Socket>()
  const smtp = new SMTPServer({
    authOptional: true,
    logger: false,
    onData(stream, _session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        received.push(Buffer.concat(chunks).toString('utf8'))
        callback(null)
      })
    },
    ...options,
  })
  smtp.on('error', () => {})
  smtp.server.on('connection', (socket: Socket) => sockets.add(socket))
  const drop = () => {
    for (const socket of sockets) socket.destroy()
  }
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  closers.push(() => new Promise<void>((resolve) => smtp.close(resolve)))
  return { port: portOf(smtp.server.address()), received, drop }
}

/** A server that answers by script; `null` drops the connection. */
async function scripted(answer: (line: string, inData: boolean) => string | null | undefined) {
  const tcp = createServer((socket: Socket) => {
    let inData = false
    let rest = ''
    socket.on('error', () => {})
    socket.write('220 script\r\n')
    socket.on('data', (chunk) => {
      const lines = (rest + chunk.toString('latin1')).split('\r\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const said = answer(line, inData)
        if (said === null) return socket.destroy()
        if (inData && line === '.') inData = false
        if (said === undefined) continue
        if (said.startsWith('354')) inData = true
        socket.write(said)
      }
    })
  })
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
  closers.push(() => new Promise((resolve) => tcp.close(resolve)))
  return portOf(tcp.address())
}

function portOf(address: unknown): number {
  if (typeof address === 'object' && address && 'port' in address) return Number(address.port)
  throw new Error('The server has no port')
}

function plain(port: number, more: Partial<SmtpSettings> = {}): SmtpSettings {
  return { host: '127.0.0.1', port, security: 'none', ...more }
}

function hook() {
  let calls = 0
  return {
    on_data: async () => {
      calls += 1
    },
    calls: () => calls,
  }
}

const polite = (line: string): string | undefined => {
  if (line.startsWith('EHLO')) return '250 script\r\n'
  if (line.startsWith('MAIL') || line.startsWith('RCPT')) return '250 ok\r\n'
  if (line === 'DATA') return '354 go on\r\n'
  return undefined
}

describe('a mail by SMTP', () => {
  test('arrives with both parts, its own id and one-click unsubscribe headers', async () => {
    const { port, received } = await server({ disabledCommands: ['STARTTLS', 'AUTH'] })
    const { on_data, calls } = hook()

    const result = await sendMail(plain(port), mail, { on_data })

    expect(result).toMatchObject({ kind: 'sent', message_id: mail.message_id })
    expect(calls()).toBe(1)
    const raw = received[0] ?? ''
    expect(raw).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n')
    const arrived = await simpleParser(raw)
    expect(arrived.headers.get('list')).toMatchObject({
      unsubscribe: { url: mail.unsubscribe_url },
    })
    expect(arrived.messageId).toBe(mail.message_id)
    expect(arrived.inReplyTo).toBe('<first@demir.example>')
    expect(arrived.subject).toBe('Günaydın — a question')
    expect(arrived.from?.value).toEqual([mail.from])
    expect(arrived.to).toMatchObject({ value: [mail.to] })
    expect(arrived.text).toContain('Günaydın\n.\nA line that starts with a dot stays.')
    expect(arrived.html).toContain('<p>Günaydın</p>')
    expect(arrived.date).toEqual(mail.date)
  })

  test('carries a data: picture inside, named by its id', async () => {
    const { port, received } = await server({ disabledCommands: ['STARTTLS', 'AUTH'] })
    await sendMail(plain(port), mail, hook())
    const raw = received[0] ?? ''
    expect(raw).toMatch(/src=3D"cid:[0-9a-f]{24}@picture"/)
    const arrived = await simpleParser(raw)
    expect(arrived.attachments).toHaveLength(1)
    expect(arrived.attachments[0]?.contentType).toBe('image/png')
  })

  test('has the same Message-ID for every attempt and another for everybody else', () => {
    const id = messageId('4f6c', 'jo@client.example', 'ayse@demir.example')
    expect(id).toBe(mail.message_id)
    expect(id).toMatch(/^<[0-9a-f]{40}@demir\.example>$/)
    expect(messageId('4f6c', 'al@client.example', 'ayse@demir.example')).not.toBe(id)
    expect(messageId('4f6d', 'jo@client.example', 'ayse@demir.example')).not.toBe(id)
  })

  test.each([
    ['subject', { ...mail, subject: 'Hello\r\nBcc: all@client.example' }],
    ['name', { ...mail, to: { name: 'Jo\nBcc: x@y.example', address: 'jo@client.example' } }],
    ['address', { ...mail, to: { address: 'jo@client.example>\r\nRCPT TO:<x@y.example' } }],
    ['two addresses', { ...mail, to: { address: 'jo@client.example,al@client.example' } }],
    [
      'unsubscribe link',
      { ...mail, unsubscribe_url: 'https://hub.example/u/\r\nBcc: x@y.example' },
    ],
    ['http unsubscribe link', { ...mail, unsubscribe_url: 'http://hub.example/u/1' }],
    ['message id', { ...mail, message_id: '<a@b>\r\nBcc: x@y.example' }],
  ])('a header smuggled in by the %s stops the mail', async (_, forged) => {
    const { port, received } = await server({ disabledCommands: ['STARTTLS', 'AUTH'] })
    const { on_data, calls } = hook()
    await expect(sendMail(plain(port), forged, { on_data })).rejects.toThrow()
    expect(received).toEqual([])
    expect(calls()).toBe(0)
  })

  test('is not sent when the caller cannot commit "sending"', async () => {
    const { port, received } = await server({ disabledCommands: ['STARTTLS', 'AUTH'] })
    const on_data = () => Promise.reject(new Error('wrong state'))
    await expect(sendMail(plain(port), mail, { on_data })).rejects.toThrow('wrong state')
    expect(received).toEqual([])
  })

  test('is committed as sending before the server sees MAIL FROM or DATA', async () => {
    const order: string[] = []
    const port = await scripted((line, inData) => {
      if (inData) return line === '.' ? '250 taken\r\n' : undefined
      order.push(line.split(' ')[0] ?? '')
      return polite(line)
    })
    await sendMail(plain(port), mail, {
      on_data: async () => {
        await new Promise((resolve) => setTimeout(resolve, 50))
        order.push('committed')
      },
    })
    expect(order.slice(0, 5)).toEqual(['EHLO', 'committed', 'MAIL', 'RCPT', 'DATA'])
  })
})

describe('what is refused is known not to be sent', () => {
  test.each([
    ['sender', 'MAIL', '550 5.7.1 not you\r\n', { stage: 'sender', permanent: true }],
    ['recipient', 'RCPT', '550 5.1.1 nobody\r\n', { stage: 'recipient', permanent: true }],
    ['greylisted recipient', 'RCPT', '451 later\r\n', { stage: 'recipient', permanent: false }],
    ['DATA', 'DATA', '554 no\r\n', { stage: 'data', permanent: true }],
  ])('%s', async (_, verb, said, expected) => {
    const port = await scripted((line) => (line.startsWith(verb) ? said : polite(line)))
    const result = await sendMail(plain(port), mail, hook())
    expect(result).toMatchObject({ kind: 'refused', response: said.trim(), ...expected })
  })

  test('the mail itself, after its final dot', async () => {
    const port = await scripted((line, inData) => {
      if (inData) return line === '.' ? '554 5.7.1 looks like spam\r\n' : undefined
      return polite(line)
    })
    expect(await sendMail(plain(port), mail, hook())).toMatchObject({
      kind: 'refused',
      stage: 'data',
      permanent: true,
      response: '554 5.7.1 looks like spam',
    })
  })

  test.each(['MAIL', 'RCPT'])('a connection dropped at %s', async (verb) => {
    const port = await scripted((line) => (line.startsWith(verb) ? null : polite(line)))
    expect(await sendMail(plain(port), mail, hook())).toMatchObject({
      kind: 'refused',
      permanent: false,
      stage: 'sender',
    })
  })

  test('a connection dropped before DATA by a server that can pipeline', async () => {
    const target = await server({
      disabledCommands: ['STARTTLS', 'AUTH'],
      onRcptTo: () => target.drop(),
    })
    const result = await sendMail(plain(target.port), mail, hook())
    expect(result).toMatchObject({ kind: 'refused', permanent: false })
    expect(target.received).toEqual([])
  })

  test('no server at all, and "sending" is never committed', async () => {
    const { on_data, calls } = hook()
    const result = await sendMail(plain(1), mail, { on_data })
    expect(result).toMatchObject({ kind: 'refused', permanent: false, stage: 'connect' })
    expect(calls()).toBe(0)
  })
})

describe('what may have been taken is unclear', () => {
  test.each([
    ['at the DATA command', (line: string) => line === 'DATA'],
    ['in the middle of the text', (_line: string, inData: boolean) => inData],
    ['after the final dot', (line: string, inData: boolean) => inData && line === '.'],
  ])('a connection dropped %s', async (_, drops) => {
    const port = await scripted((line, inData) => {
      if (drops(line, inData)) return null
      return inData ? undefined : polite(line)
    })
    const result = await sendMail(plain(port), mail, hook())
    const response = expect.stringMatching(/\w/)
    expect(result).toMatchObject({ kind: 'unclear', message_id: mail.message_id, response })
  })

  test('half an answer to the final dot', async () => {
    const tcp = createServer((socket) => {
      socket.on('error', () => {})
      socket.write('220 script\r\n')
      let all = ''
      socket.on('data', (chunk) => {
        all += chunk.toString('latin1')
        if (all.endsWith('\r\n.\r\n')) return socket.end('451 4.3.0 que')
        for (const line of chunk.toString('latin1').split('\r\n')) {
          const said = polite(line)
          if (said) socket.write(said)
        }
      })
    })
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve))
    closers.push(() => new Promise((resolve) => tcp.close(resolve)))
    const result = await sendMail(plain(portOf(tcp.address())), mail, hook())
    expect(result).toMatchObject({ kind: 'unclear' })
  })

  test('no answer in time to the final dot', async () => {
    const port = await scripted((line, inData) => (inData ? undefined : polite(line)))
    const result = await sendMail(plain(port), mail, { ...hook(), answer_timeout_ms: 300 })
    expect(result).toMatchObject({ kind: 'unclear', code: 'ETIMEDOUT' })
  })

  test('smtp-server closing while it reads the text', async () => {
    const target = await server({
      disabledCommands: ['STARTTLS', 'AUTH'],
      onData: () => target.drop(),
    })
    const result = await sendMail(plain(target.port), mail, hook())
    expect(result).toMatchObject({ kind: 'unclear' })
  })
})

describe('the connection test', () => {
  test('passes without a mail being sent', async () => {
    const { port, received } = await server({ disabledCommands: ['STARTTLS', 'AUTH'] })
    const check = await checkSmtp(plain(port), 'ayse@demir.example')
    expect(check).toMatchObject({ ok: true, stage: null })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(received).toEqual([])
  })

  test('names an unknown name', async () => {
    const settings = { ...plain(25), host: 'mail.demir.invalid' }
    const check = await checkSmtp(settings, 'ayse@demir.example', { connect_timeout_ms: 5000 })
    expect(check).toMatchObject({ ok: false, stage: 'dns' })
    expect(check.message.en).toContain('mail.demir.invalid')
  })

  test('names a closed port', async () => {
    const check = await checkSmtp(plain(1), 'ayse@demir.example')
    expect(check).toMatchObject({ stage: 'connect' })
    expect(check.message.en).toContain('at 127.0.0.1:1 (')
  })

  test.each(['tls', 'starttls'] as const)(
    'names a certificate nobody signed (%s)',
    async (security) => {
      const { port } = await server({ secure: security === 'tls' })
      const settings = plain(port, { security })
      expect(await checkSmtp(settings, 'ayse@demir.example')).toMatchObject({ stage: 'tls' })
    },
  )

  test('without encryption passes at a server that offers it with a certificate nobody signed', async () => {
    const { port } = await server({})
    expect(await checkSmtp(plain(port), 'ayse@demir.example')).toMatchObject({ ok: true })
  })

  test('names a server without encryption', async () => {
    const { port } = await server({ disabledCommands: ['STARTTLS', 'AUTH'] })
    const settings = plain(port, { security: 'starttls' })
    expect(await checkSmtp(settings, 'ayse@demir.example')).toMatchObject({ stage: 'tls' })
  })

  test('names a wrong password, and a right one passes', async () => {
    const { port } = await server({
      authOptional: false,
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      onAuth({ password }, _session, callback) {
        callback(password === 'right' ? null : new Error('Invalid login'), { user: 'ayse' })
      },
    })
    const settings = plain(port, { user: 'ayse', password: 'wrong' })
    expect(await checkSmtp(settings, 'ayse@demir.example')).toMatchObject({ stage: 'auth' })
    const right = { ...settings, password: 'right' }
    expect(await checkSmtp(right, 'ayse@demir.example')).toMatchObject({ ok: true })
  })

  test('names a sender the server refuses', async () => {
    const port = await scripted((line) =>
      line.startsWith('MAIL') ? '553 5.7.1 sender rejected\r\n' : polite(line),
    )
    const check = await checkSmtp(plain(port), 'ayse@demir.example')
    expect(check).toMatchObject({ ok: false, stage: 'sender' })
    expect(check.message.en).toContain('553 5.7.1 sender rejected')
    expect(check.message.tr).toContain('izin vermiyor (553 5.7.1 sender rejected)')
  })
})
