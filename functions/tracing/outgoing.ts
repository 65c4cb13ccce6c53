import type { SendBytes, SendMail, SendMqtt, SendResult } from '../channels/transport/send.ts'
import type { Span, SpanOptions, Tracing } from './tracing.ts'

/** Of a request only its host is told: paths, queries and headers hold the secrets of feeds and receivers. */
function httpSpan(method: string, url: string): SpanOptions {
  const { hostname, port, protocol } = new URL(url)
  return {
    name: method,
    kind: 'client',
    attributes: {
      'http.request.method': method,
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'http:' ? 80 : 443),
      'url.scheme': protocol.replace(':', ''),
    },
  }
}

/** Gives each request to a feed a span. */
export function traceFetch(tracing: Tracing, plain: typeof fetch): typeof fetch {
  if (!tracing.is_on) return plain
  return (input, init) => {
    const { url, method } = input instanceof Request ? input : { url: String(input), method: 'GET' }
    return tracing.span(httpSpan(init?.method ?? method, url), async (span) => {
      const response = await plain(input, init)
      tellStatus(span, response.status)
      return response
    })
  }
}

/** Gives each request to a receiver a span. */
export function traceSend(tracing: Tracing, send: SendBytes): SendBytes {
  if (!tracing.is_on) return send
  return (request) => {
    // A target that cannot be read is refused by what sends it.
    if (!URL.canParse(request.url)) return send(request)
    return tracing.span(httpSpan(request.method, request.url), async (span) => {
      const result = await send(request)
      if (result.ok) tellStatus(span, result.status)
      else span.fail(result.failure)
      return result
    })
  }
}

function tellStatus(span: Span, status: number): void {
  span.set({ 'http.response.status_code': status })
  if (status >= 400) span.fail(String(status))
}

/** Gives each mail a span, without its recipient. */
export function traceMail(tracing: Tracing, send: SendMail | undefined): SendMail | undefined {
  if (!tracing.is_on || !send) return send
  return (mail) =>
    tracing.span(
      { name: 'send mail', kind: 'client' },
      failing(() => send(mail)),
    )
}

/** Gives each message to an MQTT broker a span, without its topic. */
export function traceMqtt(tracing: Tracing, send: SendMqtt | undefined): SendMqtt | undefined {
  if (!tracing.is_on || !send) return send
  const attributes = { 'messaging.system': 'mqtt', 'messaging.operation.type': 'send' }
  return (request) =>
    tracing.span(
      { name: 'send mqtt', kind: 'producer', attributes },
      failing(() => send(request)),
    )
}

function failing(send: () => Promise<SendResult>) {
  return async (span: Span) => {
    const result = await send()
    if (!result.ok) span.fail(result.failure)
    return result
  }
}
