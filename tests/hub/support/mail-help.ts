import type { AddressInfo } from 'node:net'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { expect } from 'vitest'
import { z } from 'zod'
import type { TestHub } from './hub.ts'
import { standForAll } from './stand.ts'

export type MailServer = {
  port: number
  /** What was taken, in order. */
  mails: ParsedMail[]
  /** Who was written to, in the order it was taken; more than once if a mail came twice. */
  to: () => string[]
  close: () => Promise<void>
}

/** A real SMTP server that keeps what it is sent. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: ParsedMail[] = []
  const recipients: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    disableReverseLookup: true,
    onData(stream, session, callback) {
      simpleParser(stream).then((mail) => {
        mails.push(mail)
        recipients.push(...session.envelope.rcptTo.map(({ address }) => address))
        callback()
      }, callback)
    },
    ...options,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo // safe: it listens on TCP
  return {
    port,
    mails,
    to: () => recipients,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

const Draft = z.object({ id: z.string(), project: z.string() })

/** Calls of the API that have to succeed, or be refused in the way that is named. */
export function apiOf(hub: TestHub, headers: Record<string, string> = {}) {
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await hub.call(method, path, body, headers)
    const text = await response.text()
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
  }
  const api = {
    post: (path: string, body: unknown = {}) => send('POST', path, body),
    get: (path: string) => send('GET', path),
    put: (path: string, body: unknown) => send('PUT', path, body),
    /**
     * A POST that works; answers its body. Before an approval somebody stands for each sentence that
     * has no evidence, as the author of a mail does.
     */
    ok: async (path: string, body: unknown = {}) => {
      if (path === 'draft/approve') await standForAll(api, Draft.parse(body))
      const answer = await send('POST', path, body)
      expect(answer, path).toMatchObject({ status: expect.toSatisfy((code) => code < 300) })
      return answer.body
    },
  }
  return api
}

/** A brand with which the mails of a project may be sent. */
export const BRAND = {
  sender_name: 'Ayşe Demir',
  sender_email: 'ayse@demir.example',
  signature: 'Ayşe Demir\nDemir Lojistik',
  postal_address: 'Demir Lojistik, Liman Cad. 1, İzmir',
}

/** Gives the project `demir` the brand above, with changes. */
export async function setBrand(
  api: ReturnType<typeof apiOf>,
  change: object = {},
  slug = 'demir',
): Promise<void> {
  const answer = await api.put('projects/brand', { slug, ...BRAND, ...change })
  expect(answer, 'projects/brand').toMatchObject({ status: 200 })
}

/** Settings with which mail goes out by SMTP on this machine. */
export const smtpSettings = (port: number) => ({
  smtp: { host: '127.0.0.1', port, security: 'none' as const },
  daily_cap: 10_000,
  ramp: null,
})

export const LEAD = { source: 'fair.csv', lawful_basis: 'legitimate_interest' }

/** Drafts of the project `demir`, to a lead unless told otherwise; both are there once a test runs. */
export function draftsOf(given: () => { api: ReturnType<typeof apiOf>; lead_id: string }) {
  return {
    of: (id: string) => ({ id, project: 'demir' }),
    create: async (more: object = {}): Promise<string> => {
      const { api, lead_id } = given()
      const made = await api.ok('draft/create', {
        project: 'demir',
        audience: { kind: 'lead', lead_id },
        subject: 'A short question',
        text: 'Hello Jo,\n\nwould you like to talk next week?\n\nKind regards',
        ...more,
      })
      return made.draft.id
    },
    get: async (id: string) => (await given().api.get(`drafts/get?id=${id}&project=demir`)).body,
  }
}
