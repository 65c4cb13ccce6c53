import type { AddressInfo, Socket } from 'node:net'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A certificate for `localhost` and its key, made for these tests; it signs itself. */
export const LOCALHOST = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBlDCCATugAwIBAgIUSBA9MhRo77GRVFglRND/axqJ3n4wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzAzMzAxMVoYDzIxMjYxMDMw
MDMzMDExWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASPjg/jTTTwNwQe5xVQHBKA97Oj+ZM3VW1g7i4QtftONE/aYhfa94KL
QQx1dlgL2VtLpuf3/7h/HgCGfS8AbiQPo2kwZzAdBgNVHQ4EFgQUkXly9j1yLLGX
CdQy9MeTyHmZwXIwHwYDVR0jBBgwFoAUkXly9j1yLLGXCdQy9MeTyHmZwXIwFAYD
VR0RBA0wC4IJbG9jYWxob3N0MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwID
RwAwRAIgTPn59PgfW6euSP1Qncs3+GAsRatJ8XnL+kea3O3TivwCICZ9rS1R1CpH
JWqFDt/MBZO0XLOnKdfkAtEliewpnELR
-----END CERTIFICATE-----`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtXBtWIFo2UuZaHZc
Xrnwr6Ps9KhxFP8kN7xaNQNIReWhRANCAASPjg/jTTTwNwQe5xVQHBKA97Oj+ZM3
VW1g7i4QtftONE/aYhfa94KLQQx1dlgL2VtLpuf3/7h/HgCGfS8AbiQP
-----END PRIVATE KEY-----`,
}

export type MailServer = {
  port: number
  /** What was taken, in order, and the bytes of each. */
  mails: ParsedMail[]
  raw: string[]
  /** The recipient of each. */
  to: string[]
  /** How many connections there have been. */
  connections: () => number
  /** Drops every connection. */
  drop: () => void
  close: () => Promise<void>
}

/** A real SMTP server that keeps what it is sent. Without options it has neither TLS nor logins. */
export async function startMailServer(
  options: SMTPServerOptions = { disabledCommands: ['STARTTLS', 'AUTH'] },
): Promise<MailServer> {
  const mails: ParsedMail[] = []
  const raw: string[] = []
  const to: string[] = []
  const sockets = new Set<Socket>()
  const smtp = new SMTPServer({
    authOptional: true,
    logger: false,
    disableReverseLookup: true,
    ...LOCALHOST,
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const bytes = Buffer.concat(chunks)
        raw.push(bytes.toString('utf8'))
        to.push(...session.envelope.rcptTo.map(({ address }) => address))
        mails.push(await simpleParser(bytes))
        callback(null)
      })
    },
    ...options,
  })
  let connections = 0
  smtp.on('error', () => {})
  smtp.server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
  })
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  const drop = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (smtp.server.address() as AddressInfo).port, // safe: it listens on TCP
    mails,
    raw,
    to,
    connections: () => connections,
    drop,
    close: () => new Promise((resolve) => smtp.close(resolve)),
  }
}
