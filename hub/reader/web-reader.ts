import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { bilingual, verbatim, type Words } from '../i18n/words.ts'
import { findChromium } from './chromium.ts'
import {
  createFetcher,
  type FetcherOptions,
  type Got,
  normalUrl,
  type Spent,
  type Visit,
} from './fetcher.ts'
import { LIMITS } from './limits.ts'
import { plainPage } from './plain.ts'
import { readerText } from './web-reader.text.ts'
import { FromReader, type PageText, readMessages, sendMessage, type ToReader } from './wire.ts'

const say = bilingual(readerText)

/** A page as its visitor sees it; `url` is the address it was fetched from, after redirects. */
export type Page = PageText
/** The result of reading an address: its page, or why it was not read. */
export type Reading = { page: Page } | { refused: Words }

export type Reader = {
  read: (url: string, signal: AbortSignal, spent?: Spent) => Promise<Reading>
  /** Whether a browser starts in its sandbox; returns its version, or why it does not. */
  check: () => Promise<{ version: string } | { refused: Words }>
}

export type ReaderOptions = FetcherOptions & {
  /** The socket of the reader's unit; without it the reader is a child of this process. */
  socket?: string | undefined
  /** A different program as the child. */
  program?: string
  /** Whether there is a browser; without one, a page is the text that its server sent. */
  hasBrowser?: () => Promise<boolean>
}

const SERVE = join(import.meta.dirname, 'serve.ts')
/** The largest page, as JSON. */
const MAX_MESSAGE_BYTES = 1024 * 1024

/**
 * openReader reads pages in a browser without network access: everything it loads comes from the
 * fetcher. Every page has its own browser, which ends with it. Where there is no browser, it reads
 * what the server sent, by the same rules for fetching.
 */
export function openReader(options: ReaderOptions = {}): Reader {
  const fetcher = createFetcher(options)
  const { hasBrowser = async () => (await findChromium()) !== undefined } = options
  const { page_ms } = { ...LIMITS, ...options.limits }

  async function read(url: string, signal: AbortSignal, spent = { bytes: 0 }): Promise<Reading> {
    signal.throwIfAborted()
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(page_ms)])
    const visit = fetcher.visit(deadline, spent)
    try {
      const first = await visit.get(url, 'document')
      if ('refused' in first) return first
      const { got } = first
      if (!isWhole(got)) return { refused: say.answered(got.url, got.status) }
      if (!(await hasBrowser())) return { page: plainPage(got) }
      return await show(got, visit, deadline)
    } catch (error) {
      signal.throwIfAborted()
      if (deadline.aborted) return { refused: say.slow(new URL(url).hostname) }
      return { refused: notAnswered(error) }
    } finally {
      await visit.close()
    }
  }

  /**
   * Sends a page to the reader and supplies what it requests; the page's source is what we
   * supplied.
   */
  async function show(first: Got, visit: Visit, signal: AbortSignal): Promise<Reading> {
    const channel = await open(options, signal)
    const given: string[] = []
    const answer = async ({ id, url, kind }: Extract<FromReader, { type: 'get' }>) => {
      const asked = normalUrl(url)
      const isFirst = kind === 'document' && given.length === 0 && asked === first.url
      const answered = isFirst ? { got: first } : await visit.get(url, kind)
      const got = 'got' in answered ? answered.got : undefined
      if (!got || (kind === 'document' && !isWhole(got)))
        return channel.send({ type: 'refused', id })
      if (kind === 'document' && got.url !== asked) {
        return channel.send({ type: 'moved', id, url: got.url })
      }
      if (kind === 'document') given.push(got.url)
      reply(id, got)
    }
    const reply = (id: number, { status, content_type, allow_origin, body }: Got) =>
      channel.send({
        type: 'got',
        id,
        status,
        content_type,
        allow_origin,
        body: body.toString('base64'),
      })
    try {
      channel.send({ type: 'open', url: first.url })
      for await (const message of channel.messages) {
        if (message.type === 'get') {
          // When the page is done, nobody waits for its requests any more.
          void answer(message).catch(() => {})
        }
        if (message.type === 'failed') return { refused: failed(message) }
        if (message.type === 'page') {
          const source = sourceOf(message.page.url, given)
          if (!source) return { refused: say.no_answer(first.url) }
          return { page: { ...message.page, url: source } }
        }
      }
      signal.throwIfAborted()
      return { refused: say.no_answer(first.url) }
    } finally {
      channel.close()
    }
  }

  async function check(): Promise<{ version: string } | { refused: Words }> {
    try {
      const channel = await open(options, AbortSignal.timeout(page_ms))
      try {
        channel.send({ type: 'check' })
        for await (const message of channel.messages) {
          if (message.type === 'checked') return { version: message.version }
          if (message.type === 'failed') return { refused: failed(message) }
        }
        return { refused: say.browser.away('EOF') }
      } finally {
        channel.close()
      }
    } catch (error) {
      return { refused: notAnswered(error) }
    }
  }

  return { read, check }
}

/**
 * Within its site a page may change its own address; its source is the document that we fetched:
 * the one with that address, or else the last one of that site.
 */
function sourceOf(shown: string, given: readonly string[]): string | undefined {
  if (!URL.canParse(shown) || !/^https?:/.test(shown)) return undefined
  const at = normalUrl(shown)
  if (given.includes(at)) return at
  return given.findLast((url) => new URL(url).origin === new URL(at).origin)
}

const isWhole = ({ status }: Got) => status >= 200 && status <= 299

function failed({ why, detail }: Extract<FromReader, { type: 'failed' }>): Words {
  if (why === 'no_chromium') return say.browser.no_chromium
  if (why === 'root') return say.browser.root
  return say.browser[why](verbatim(detail))
}

function notAnswered(error: unknown): Words {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const message = error instanceof Error ? error.message : String(error)
  return say.browser.away(code || message.slice(0, 200))
}

type Channel = {
  messages: AsyncIterable<FromReader>
  send: (message: ToReader) => void
  close: () => void
}

async function open({ socket, program }: ReaderOptions, signal: AbortSignal): Promise<Channel> {
  signal.throwIfAborted()
  const { from, to, close } =
    socket === undefined ? startChild(program ?? SERVE) : await connectTo(socket)
  signal.addEventListener('abort', close, { once: true })
  // A reader that has ended cannot receive what is still on its way.
  to.on('error', () => {})
  return {
    messages: readMessages(from, FromReader, MAX_MESSAGE_BYTES),
    send: (message) => sendMessage(to, message),
    close: () => {
      signal.removeEventListener('abort', close)
      close()
    },
  }
}

type Streams = { from: Readable; to: Writable; close: () => void }

async function connectTo(path: string): Promise<Streams> {
  const socket = connect(path)
  await once(socket, 'connect')
  return { from: socket, to: socket, close: () => socket.destroy() }
}

function startChild(program: string): Streams {
  const { PATH, HOME, TMPDIR, HUB_CHROMIUM } = process.env
  const child = spawn(process.execPath, [program], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH, HOME, TMPDIR, HUB_CHROMIUM },
  })
  child.on('error', () => child.stdout.destroy())
  return { from: child.stdout, to: child.stdin, close: () => void child.kill('SIGTERM') }
}
