/** A service on this machine that answers as a real one does, at the address of the real one. */
import type { ServerResponse } from 'node:http'
import { expect } from 'vitest'
import type { ChannelKind, Message, Outcome } from '../../../functions/channels/channel.ts'
import { deliver } from '../../../functions/channels/kinds.ts'
import type { Send } from '../../../functions/channels/transport/send.ts'
import { nodeSend } from '../../../functions/channels/transport/send-node.ts'
import { parseAllowList } from '../../../functions/channels/transport/target.ts'
import { type Received, receiver } from '../../support/servers/receiver.ts'
import { messageOf } from './samples.ts'

export type Answer = { status: number; headers?: Record<string, string>; body?: string | object }

/** Takes the place of every host; requests arrive with their path, and `host` as a header. */
export async function provider(answer: (request: Received) => Answer) {
  const local = await receiver((response, request) => respond(response, answer(request)))
  const direct = nodeSend({ allow: parseAllowList('127.0.0.1') })
  const send: Send = (request) => {
    const url = new URL(request.url)
    const headers = { ...request.headers, 'x-host': url.host }
    return direct({
      ...request,
      url: `http://127.0.0.1:${local.port}${url.pathname}${url.search}`,
      headers,
    })
  }
  return {
    received: local.received,
    deliver: (kind: ChannelKind, message: Message): Promise<Outcome> =>
      deliver(kind, message, { send }),
    close: local.close,
  }
}

function respond(response: ServerResponse, { status, headers = {}, body = '' }: Answer): void {
  const isText = typeof body === 'string'
  const type = isText ? 'text/html' : 'application/json'
  response.writeHead(status, { 'content-type': type, ...headers })
  response.end(isText ? body : JSON.stringify(body))
}

export const says = (status: number, body: string | object = '', headers = {}): Answer => ({
  status,
  body,
  headers,
})
export const telegramSays = (error_code: number, description: string, parameters = {}) =>
  says(error_code, { ok: false, error_code, description, parameters })

/** Delivers once; each request gets the next answer. */
export async function outcomeOf(kind: ChannelKind, answers: Answer[], over: Partial<Message> = {}) {
  const left = [...answers]
  const service = await provider(() => left.shift() ?? says(599))
  try {
    const outcome = await service.deliver(kind, messageOf(kind.kind, over))
    expect(JSON.stringify(outcome)).not.toContain('s3cr3t')
    expect('error' in outcome).toBe(outcome.outcome !== 'ok')
    return { outcome, received: service.received }
  } finally {
    service.close()
  }
}

/** Every text in a body, wherever it stands. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

/** Titles that try to be more than text. */
export const CRAFTED = [
  '@everyone @here <!channel> <!everyone> <@U123> <@&1> <#C1>',
  '<b>bold</b> <a href="https://evil.example">click</a> </code></pre>',
  '[click](https://evil.example) ![x](https://evil.example/x.png) **b** __u__ ~~s~~ ||spoiler|| `c`',
  '<https://evil.example|Your bank> &lt;!channel&gt; &amp; &#60;',
  'one\ntwo\r\nthree\u2028four\u0000five',
  'left \u202egnp.exe \u2066right\u2069',
  '😀'.repeat(250),
  'é'.repeat(500),
  '&'.repeat(500),
  '<'.repeat(500),
  '*_~`|>#-'.repeat(60),
  'lone \ud83d surrogate \udc00',
  '@{triggerBody()} {{DATE(2026-03-01T00:00:00Z,SHORT)}} %s %n',
] as const

/** Fails for what no service takes: half a character. */
export function expectWhole(body: string): void {
  for (const text of textsIn(JSON.parse(body))) expect(text.isWellFormed()).toBe(true)
}
