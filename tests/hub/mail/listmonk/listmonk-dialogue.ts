import type { AddressInfo } from 'node:net'
import { simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'
import { z } from 'zod'

/** A listmonk or its stand-in; `received` tells what its mail server was given. */
export type Side = {
  url: string
  user: string
  token: string
  received: () => Received[]
}
export type Received = { from: string; to: string; subject: string }
/** What was asked, and how it was answered, without what differs from run to run. */
export type Answer = { asked: string; status: number; answer: unknown }

/** A mail server that takes every mail, but for those to addresses that begin with `refuse`. */
export async function startSink(port = 0) {
  const received: Received[] = []
  /** The last mail to each address, as it came. */
  const raw = new Map<string, Buffer>()
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onRcptTo: ({ address }, _session, callback) =>
      callback(address.startsWith('refuse') ? new Error('No such user') : null),
    onData(stream, _session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      simpleParser(stream).then(
        ({ from, to, subject }) => {
          const reader = [to].flat()[0]?.value[0]?.address ?? ''
          raw.set(reader, Buffer.concat(chunks))
          received.push({ from: from?.text ?? '', to: reader, subject: subject ?? '' })
          callback(null)
        },
        (error: Error) => callback(error),
      )
    },
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = server.server.address() as AddressInfo // safe: it listens on TCP
  return {
    port: address.port,
    received: () => received,
    raw,
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

/** What the hub reads of an answer. Other fields of listmonk are not the stand-in's to have. */
const READ = new Set(
  `data message results total name type optin tags subscriber_count email status attribs lists id
  subscription_status subject from_email to_send sent started_at template_id campaign`.split(/\s+/),
)
/** An object of any fields. */
export const Kept = z.record(z.string(), z.unknown())

/** The calls to a listmonk, whose answers are kept in order. Names of the run become `RUN`. */
export function startDialogue(side: Side, run: string) {
  const answers: Answer[] = []
  const text = (given: string) =>
    given
      .replaceAll(run, 'RUN')
      // listmonk makes a name of the address.
      .replaceAll(`${run.slice(0, 1).toUpperCase()}${run.slice(1)}`, 'RUN')
      // Where in a template Go found a fault.
      .replace(/error compiling \w+: template: \w+:\d+: /, '')
      .replace(/(?<=\(|template )\d+/g, 'N')
  const plain = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value)
    if (Array.isArray(value)) return value.map(plain)
    const fields = Kept.safeParse(value)
    if (!fields.success) return value
    return Object.fromEntries(
      Object.entries(fields.data)
        .filter(([key]) => READ.has(key))
        .map(([key, one]) => {
          if (/^(id|template_id)$/.test(key)) return [key, one === null ? null : 'N']
          if (key === 'started_at') return [key, one === null ? null : 'T']
          if (key === 'attribs') return [key, one]
          if (key === 'lists' && Array.isArray(one)) return [key, one.map(plain).toSorted(byName)]
          return [key, plain(one)]
        }),
    )
  }

  async function call(
    asked: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Record<string, unknown>> {
    const response = await fetch(side.url + path, {
      method,
      headers: {
        authorization: `token ${side.user}:${side.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const whole = Kept.parse(await response.json())
    answers.push({ asked, status: response.status, answer: plain(whole) })
    return Kept.catch({}).parse(whole.data)
  }
  const get = (asked: string, path: string) => call(asked, 'GET', path)
  const post = (asked: string, path: string, body: unknown) => call(asked, 'POST', path, body)
  const put = (asked: string, path: string, body: unknown) => call(asked, 'PUT', path, body)
  const remove = (asked: string, path: string) => call(asked, 'DELETE', path)
  const told = (asked: string, answer: unknown) => answers.push({ asked, status: 200, answer })
  const page = async (asked: string, path: string, fields: Record<string, string>) => {
    const init = { method: 'POST', body: new URLSearchParams(fields) }
    const { status } = await fetch(side.url + path, init)
    answers.push({ asked, status, answer: null })
  }
  return { answers, text, call, get, post, put, remove, told, page }
}

/** listmonk gives the lists of a subscriber in no order. */
function byName(one: unknown, other: unknown): number {
  const [left, right] = [one, other].map((list) => String(Kept.parse(list).name))
  return (left ?? '').localeCompare(right ?? '')
}

/** until waits for up to 40 s. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await holds()); tries += 1) {
    if (tries > 400) throw new Error('listmonk did not come to that within 40 s')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
