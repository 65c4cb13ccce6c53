import { type Dispatcher, request } from 'undici'
import { WordsError } from '../i18n/failure.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { NotPublic } from '../outside.ts'
import { downloadText } from './download.text.ts'

const say = bilingual(downloadText)

const DOWNLOAD_REASONS = [
  'refused',
  'digest_unknown',
  'wrong_digest',
  'not_gguf',
  'no_space',
  'interrupted',
  'cancelled',
] as const

/** Why a file was not downloaded; `words` say what to do about it, `message` is in English. */
export class DownloadError extends WordsError {
  readonly reason: (typeof DOWNLOAD_REASONS)[number]

  constructor(
    reason: (typeof DOWNLOAD_REASONS)[number],
    words: Words,
    options: { cause?: unknown } = {},
  ) {
    super(words, options)
    this.reason = reason
  }
}

export type Expected = { bytes: number; sha256: string }

const REDIRECTS = [301, 302, 303, 307, 308]
const MAX_REDIRECTS = 6
const POINTER_BYTES = 1024
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/**
 * expectedOf returns the expected digest and size before anything is downloaded: as the caller
 * knows them, or from Hugging Face (X-Linked-ETag on the way to the file, or the file's LFS
 * pointer).
 */
export async function expectedOf(known: {
  url: string
  bytes?: number | undefined
  sha256?: string | undefined
  agent: Dispatcher
  signal?: AbortSignal | undefined
}): Promise<Expected> {
  const { url, agent, signal } = known
  let { bytes, sha256 } = known
  const options = { dispatcher: agent, ...(signal ? { signal } : {}) }
  if (sha256 === undefined) requireTrust(new URL(url))
  if (bytes === undefined || sha256 === undefined) {
    const response = await follow(url, async (at) => {
      const step = await request(at, { ...options, method: 'HEAD' })
      const tag = /^"?([0-9a-f]{64})"?$/.exec(String(step.headers['x-linked-etag']))
      sha256 ??= tag?.[1]
      bytes ??= sizeIn(step.headers['x-linked-size'])
      return step
    })
    await response.body.dump()
    if (response.statusCode === 200) bytes ??= sizeIn(response.headers['content-length'])
    else if (![405, 501].includes(response.statusCode)) throw refusalOf(response.statusCode, url)
  }
  if ((bytes === undefined || sha256 === undefined) && url.includes('/resolve/')) {
    const pointer = await readPointer(url.replace('/resolve/', '/raw/'), options)
    sha256 ??= pointer?.sha256
    bytes ??= pointer?.bytes
  }
  if (sha256 === undefined) {
    throw new DownloadError('digest_unknown', say.no_digest(new URL(url).host))
  }
  if (bytes === undefined) {
    throw new DownloadError('refused', say.no_size(new URL(url).host))
  }
  return { bytes, sha256: sha256.toLowerCase() }
}

/** Nobody between us and the server may supply the digest that the file is checked against. */
function requireTrust({ protocol, hostname, host }: URL): void {
  if (protocol === 'https:' || LOOPBACK.includes(hostname)) return
  throw new DownloadError('digest_unknown', say.plain(host))
}

/** A Git LFS pointer is a text of a few lines with the file's digest and size. */
async function readPointer(
  url: string,
  options: { dispatcher: Dispatcher; signal?: AbortSignal },
): Promise<Expected | undefined> {
  const response = await follow(url, (at) => request(at, options))
  const isSmall = (sizeIn(response.headers['content-length']) ?? 0) <= POINTER_BYTES
  if (response.statusCode !== 200 || !isSmall) {
    await response.body.dump({ limit: POINTER_BYTES })
    return undefined
  }
  const text = await response.body.text()
  const sha256 = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1]
  const bytes = /^size (\d+)$/m.exec(text)?.[1]
  return sha256 && bytes ? { sha256, bytes: Number(bytes) } : undefined
}

/** Follows redirects itself, because their headers matter and https must stay https. */
export async function follow(
  url: string,
  ask: (url: URL) => Promise<Dispatcher.ResponseData>,
): Promise<Dispatcher.ResponseData> {
  let at = new URL(url)
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await ask(at).catch((error: unknown) => {
      if (!(error instanceof NotPublic)) throw error
      // The address that was asked for may be in one's own network, but it may be missing, for now.
      if (redirects === 0) throw new DownloadError('interrupted', say.not_found(error.host))
      throw new DownloadError('refused', say.leads_inside(error.host))
    })
    const { location } = response.headers
    if (!REDIRECTS.includes(response.statusCode) || typeof location !== 'string') return response
    await response.body.dump()
    const next = new URL(location, at)
    if (next.protocol !== at.protocol && next.protocol !== 'https:') {
      throw new DownloadError('refused', say.leads_to_plain(at.host))
    }
    at = next
  }
  throw new DownloadError('refused', say.endless(at.host))
}

/** Why a server refuses, and whether to try again. */
export function refusalOf(status: number, url: string): DownloadError {
  const { host } = new URL(url)
  if (status === 401 || status === 403) {
    return new DownloadError('refused', say.gated(host, status))
  }
  if (status === 404 || status === 410) {
    return new DownloadError('refused', say.absent(host))
  }
  if (status === 206 || status === 408 || status === 416 || status === 429 || status >= 500) {
    return new DownloadError('interrupted', say.busy(host, status))
  }
  return new DownloadError('refused', say.refused(host, status))
}

function sizeIn(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d+$/.test(header) ? Number(header) : undefined
}
