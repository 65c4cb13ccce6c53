import type { Readable, Writable } from 'node:stream'
import { BrowserError, type Get, launch, showPage } from './browser.ts'
import { findChromium } from './chromium.ts'
import { type FromReader, readMessages, sendMessage, ToReader } from './wire.ts'

/*
 * The reader: a process that opens one page in Chromium and ends. Its standard input and output
 * lead to the hub. On a developer's machine they are pipes; installed, they are the connection that
 * systemd accepted for a unit without network access.
 */

/** The largest message from the hub: a file of a page in base64, and its headers. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024
const CLOSING_MS = 3_000

/** serve handles the first message. Tests run it as root, where Chromium has no sandbox. */
export async function serve(
  input: Readable,
  output: Writable,
  { is_sandboxed }: { is_sandboxed: boolean },
): Promise<void> {
  const send = (message: FromReader) => sendMessage(output, message)
  const waiting = new Map<number, (answer: Awaited<ReturnType<Get>>) => void>()
  let asked = 0
  const get: Get = (url, kind) =>
    new Promise((resolve) => {
      const id = asked++
      waiting.set(id, resolve)
      send({ type: 'get', id, url, kind })
    })
  const messages = readMessages(input, ToReader, MAX_MESSAGE_BYTES)
  const { value: order } = await messages.next()
  if (order?.type !== 'open' && order?.type !== 'check') return
  // The hub that asked is gone, so nobody waits for the answer.
  void listen().finally(() => process.exit(0))
  try {
    const executable = await findChromium()
    if (!executable) throw new BrowserError('no_chromium')
    const browser = await launch(executable, is_sandboxed)
    send(
      order.type === 'check'
        ? { type: 'checked', version: browser.version().slice(0, 100) }
        : { type: 'page', page: await showPage(browser, order.url, get) },
    )
    await Promise.race([browser.close(), new Promise((done) => setTimeout(done, CLOSING_MS))])
  } catch (error) {
    const { why, message } =
      error instanceof BrowserError ? error : { why: 'page' as const, message: String(error) }
    send({ type: 'failed', why, detail: message.slice(0, 300) })
  }

  async function listen(): Promise<void> {
    for await (const message of messages) {
      if (message.type === 'open' || message.type === 'check') return
      waiting.get(message.id)?.(message)
      waiting.delete(message.id)
    }
  }
}

if (import.meta.main) {
  process.title = 'watchpost-reader'
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0))
  await serve(process.stdin, process.stdout, { is_sandboxed: true })
  // Playwright ends the remaining processes of Chromium when this process exits.
  process.stdout.end(() => process.exit(0))
}
