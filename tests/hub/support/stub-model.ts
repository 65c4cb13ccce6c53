import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestHub } from './hub.ts'

/** What a model is asked, as an OpenAI-compatible endpoint hears it. */
export type Asked = { name: string; system: string; task: string; schema: Record<string, unknown> }
export type Script = (asked: Asked, count: number) => unknown

export type StubModel = {
  url: string
  /** Everything it was asked so far. */
  asked: Asked[]
  /** Answers from now on; a function that throws is a server that fails. */
  script: (answer: Script) => void
  /** Holds answers back until it is called again with false. */
  hold: (isHeld: boolean) => void
  /** How many calls were given up by their caller before the answer. */
  dropped: () => number
  close: () => Promise<void>
}

/** A scripted stand-in for somebody else's model server: the outside world. */
export async function startStubModel(): Promise<StubModel> {
  const asked: Asked[] = []
  const counts = new Map<string, number>()
  let answer: Script = () => ({})
  let isHeld = false
  let dropped = 0
  const server = createServer(async (request, response) => {
    if (request.url?.endsWith('/v1/models')) return void response.end('{"data":[]}')
    if (request.method !== 'POST') return void response.writeHead(404).end()
    let text = ''
    for await (const part of request) text += part
    // Some servers tell more about themselves; this one does not.
    if (!request.url?.endsWith('/chat/completions')) {
      response.statusCode = 404
      return void response.end('{}')
    }
    const body = JSON.parse(text)
    const { name, schema } = body.response_format.json_schema
    const [system, user] = body.messages
    const call = { name, system: system.content, task: user.content, schema }
    asked.push(call)
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    response.on('close', () => {
      if (!response.writableEnded) dropped += 1
    })
    while (isHeld && !response.destroyed) await new Promise((resolve) => setTimeout(resolve, 20))
    if (response.destroyed) return
    let content: string
    try {
      content = JSON.stringify(answer(call, count))
    } catch (error) {
      response.statusCode = 500
      return void response.end(JSON.stringify({ error: { message: String(error) } }))
    }
    const usage = { prompt_tokens: 100, completion_tokens: 20 }
    if (body.stream) {
      response.setHeader('content-type', 'text/event-stream')
      for (let at = 0; at < content.length; at += 24) {
        const delta = { content: content.slice(at, at + 24) }
        response.write(`data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`)
      }
      response.write(
        `data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason: 'stop' }], usage })}\n\n`,
      )
      return void response.end('data: [DONE]\n\n')
    }
    response.setHeader('content-type', 'application/json')
    const message = { role: 'assistant', content }
    response.end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }], usage }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // safe: it listens on a port
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    script: (next) => {
      counts.clear()
      asked.length = 0
      answer = next
    },
    hold: (held) => {
      isHeld = held
    },
    dropped: () => dropped,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Makes the hub think with the stub. */
export async function useStub(hub: TestHub, stub: StubModel): Promise<void> {
  await hub.deps.model.configure({ kind: 'endpoint', url: stub.url, model: 'stub' })
}
