import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Dispatcher, request } from 'undici'
import { z } from 'zod'
import { hostOf } from '../../shared/addresses.ts'
import { doublingDelay } from '../../shared/backoff.ts'
import { readJson, writeJson } from '../files.ts'
import { bilingual } from '../i18n/words.ts'
import { type OutsideOptions, outside } from '../outside.ts'
import { downloadText } from './download.text.ts'
import { DownloadError, type Expected, expectedOf, follow, refusalOf } from './origin.ts'

export { DownloadError } from './origin.ts'

const say = bilingual(downloadText)

const MAGIC = Buffer.from('GGUF')
/** The disk space that must stay free for the database. */
const SPARE_BYTES = 1024 ** 3
/** How many attempts without progress a download makes before it gives up. */
const ATTEMPTS = 5
const PAUSE_MS = 1_000
const SILENCE_MS = 60_000
/** Progress is reported at most this often. */
const PROGRESS_MS = 250

export type DownloadOptions = {
  url: string
  /** The models folder. */
  folder: string
  /** What is known of the file. The server must supply the rest before the download starts. */
  name?: string | undefined
  bytes?: number | undefined
  sha256?: string | undefined
  signal?: AbortSignal | undefined
  on_progress?: ((progress: { bytes: number; total: number }) => void) | undefined
  pause_ms?: number
  spare_bytes?: number
  silence_ms?: number
  /** Lets tests reach their own servers. */
  outside?: OutsideOptions
}

/** Describes the .part file next to it: which version of which file it is the beginning of. */
const Beginning = z.object({ url: z.string(), sha256: z.string(), etag: z.string().nullable() })
type Beginning = z.infer<typeof Beginning>

/**
 * download fetches one GGUF into the folder and returns its path. It continues an earlier attempt
 * that was interrupted. The file gets its name only when its SHA-256 is the expected one.
 */
export async function download(options: DownloadOptions): Promise<string> {
  const { url, folder, signal, pause_ms = PAUSE_MS, silence_ms = SILENCE_MS } = options
  const name = nameOf(options)
  const target = join(folder, name)
  // The admin may name a server in the local network, but no server may redirect there.
  const agent = outside({
    ...options.outside,
    named: hostOf(new URL(url)),
    agent: { headersTimeout: silence_ms, bodyTimeout: silence_ms },
  })
  try {
    await mkdir(folder, { recursive: true })
    const expected = await expectedOf({ ...options, agent })
    if (await isThere(target, expected, signal)) return target
    const part = `${target}.part`
    await requireSpace(part, folder, expected.bytes, options.spare_bytes ?? SPARE_BYTES)
    for (let failures = 0; ; ) {
      const before = await sizeOf(part)
      try {
        await fetchRest({ ...options, agent, part, expected })
        break
      } catch (error) {
        signal?.throwIfAborted()
        if (error instanceof DownloadError && error.reason !== 'interrupted') throw error
        failures = (await sizeOf(part)) > before ? 1 : failures + 1
        if (failures >= ATTEMPTS) throw error
        const wait = doublingDelay(failures, { first: pause_ms })
        await sleep(wait, undefined, signal ? { signal } : {})
      }
    }
    await rename(part, target)
    await rm(`${part}.json`, { force: true })
    return target
  } catch (error) {
    if (signal?.aborted) {
      throw new DownloadError('cancelled', say.cancelled)
    }
    if (error instanceof DownloadError) throw error
    throw new DownloadError('interrupted', say.broke_off(new URL(url).host), { cause: error })
  } finally {
    await agent.close()
  }
}

/** A name for the file, without any path. */
function nameOf({ name, url }: DownloadOptions): string {
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (!address || !['https:', 'http:'].includes(address.protocol)) {
    throw new DownloadError('refused', say.no_address(url))
  }
  const given = name ?? decoded(basename(address.pathname))
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}\.gguf$/.test(given)) {
    throw new DownloadError('not_gguf', say.no_name(given))
  }
  return given
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  )
}

async function isThere(target: string, { bytes, sha256 }: Expected, signal?: AbortSignal) {
  if ((await sizeOf(target)) !== bytes) return false
  const hash = createHash('sha256')
  await hashInto(hash, target, signal)
  return hash.digest('hex') === sha256
}

async function hashInto(hash: Hash, file: string, signal?: AbortSignal): Promise<void> {
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024, signal })) {
    hash.update(chunk)
  }
}

async function requireSpace(part: string, folder: string, bytes: number, spare: number) {
  const { bavail, bsize } = await statfs(folder)
  const needed = bytes - (await sizeOf(part)) + spare
  const free = bavail * bsize
  if (free >= needed) return
  throw new DownloadError('no_space', say.no_space(folder, free / 1e9, needed / 1e9))
}

type Fetch = DownloadOptions & { agent: Dispatcher; part: string; expected: Expected }

/** Makes one request for the missing part of the .part file, and checks the whole file. */
async function fetchRest(fetch: Fetch): Promise<void> {
  const { url, agent, part, expected, signal } = fetch
  const beginning = await readBeginning(fetch)
  const had = beginning ? await sizeOf(part) : 0
  let hash = createHash('sha256')
  if (had > 0) await hashInto(hash, part, signal)
  if (had < expected.bytes) {
    const headers: Record<string, string> = { 'accept-encoding': 'identity' }
    if (had > 0) headers.range = `bytes=${had}-`
    // A weak ETag must not be used in If-Range; the digest is checked in any case.
    if (had > 0 && beginning?.etag && !beginning.etag.startsWith('W/')) {
      headers['if-range'] = beginning.etag
    }
    const response = await follow(url, (at) =>
      request(at, { dispatcher: agent, headers, ...(signal ? { signal } : {}) }),
    )
    const continues = await isContinued(response, fetch, had)
    if (!continues) hash = createHash('sha256')
    await append(fetch, response, hash, continues ? had : 0)
  }
  const found = hash.digest('hex')
  if (found === expected.sha256) return
  await rm(part, { force: true })
  throw new DownloadError('wrong_digest', say.wrong_digest(found, expected.sha256))
}

async function readBeginning({ url, part, expected }: Fetch): Promise<Beginning | undefined> {
  const read = Beginning.safeParse(await readJson(`${part}.json`).catch(() => undefined))
  if (!read.success || read.data.sha256 !== expected.sha256 || read.data.url !== url) return
  return (await sizeOf(part)) <= expected.bytes ? read.data : undefined
}

/** Whether the answer continues what we have; the whole file again is fine as well. */
async function isContinued(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { url, part }: Fetch,
  had: number,
): Promise<boolean> {
  if (statusCode === 200) return false
  const isPiece = statusCode === 206 || statusCode === 416
  if (statusCode === 206 && String(headers['content-range']).startsWith(`bytes ${had}-`))
    return true
  await body.dump()
  // It is a different part than requested, or none, so the beginning we have is useless.
  if (isPiece) await rm(part, { force: true })
  throw refusalOf(statusCode, url)
}

/** Appends the body of the answer to the .part file and to its hash. */
async function append(fetch: Fetch, response: Dispatcher.ResponseData, hash: Hash, had: number) {
  const { url, part, expected, on_progress } = fetch
  if (had === 0) {
    const { etag = null } = response.headers
    const beginning = { url, sha256: expected.sha256, etag: typeof etag === 'string' ? etag : null }
    await writeJson(`${part}.json`, beginning satisfies Beginning)
  }
  const file = await open(part, had > 0 ? 'a' : 'w', 0o644)
  let bytes = had
  let told = 0
  try {
    for await (const chunk of response.body) {
      const data: Buffer = chunk
      if (bytes === 0) requireMagic(data, url)
      bytes += data.length
      if (bytes > expected.bytes) {
        throw new DownloadError('wrong_digest', say.too_long(expected.bytes))
      }
      await file.writeFile(data)
      hash.update(data)
      if (Date.now() - told < PROGRESS_MS) continue
      told = Date.now()
      on_progress?.({ bytes, total: expected.bytes })
    }
    await file.sync()
  } finally {
    await file.close()
  }
  on_progress?.({ bytes, total: expected.bytes })
  if (bytes < expected.bytes) {
    throw new DownloadError('interrupted', say.broke_off(new URL(url).host))
  }
}

function requireMagic(data: Buffer, url: string): void {
  const length = Math.min(data.length, MAGIC.length)
  if (data.subarray(0, length).equals(MAGIC.subarray(0, length))) return
  throw new DownloadError('not_gguf', say.no_gguf_from(new URL(url).host))
}
