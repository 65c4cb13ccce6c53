import { randomUUID } from 'node:crypto'
import { basename, join } from 'node:path'
import { z } from 'zod'
import type { Paths } from '../config.ts'
import { readJson, writeJson } from '../files.ts'
import { failureOf } from '../i18n/failure.ts'
import { KeptWords } from '../i18n/kept-words.ts'
import { fieldText } from '../i18n/problem.text.ts'
import type { Log } from '../log.ts'
import { writeSetting } from '../ops/settings.ts'
import { presetById } from './catalog.ts'
import { DownloadError, type DownloadOptions, download } from './download.ts'
import type { Model } from './model.ts'
import { MODELS } from './settings.ts'
import { modelsFolder } from './socket.ts'

/** How often the progress of a download is stored, in case the hub is killed. */
const NOTE_MS = 5_000

/** What to download: a preset, or any GGUF by its address. */
export const DownloadRequest = z.union([
  z.strictObject({ preset: z.string().max(60), use: z.boolean().default(true) }),
  z.strictObject({
    url: z.url({ protocol: /^https?$/ }).max(2000),
    sha256: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, fieldText.en.sha256)
      .optional(),
    use: z.boolean().default(true),
  }),
])
export type DownloadRequest = z.output<typeof DownloadRequest>

/** The current download, or the last one. */
export const Download = z.object({
  id: z.uuid(),
  preset: z.string().nullable(),
  url: z.string(),
  sha256: z.string().nullable(),
  /** Whether the model is put to use after the download. */
  use: z.boolean(),
  status: z.enum(['processing', 'done', 'failed', 'cancelled']),
  bytes: z.int(),
  total_bytes: z.int().nullable(),
  error: z.string().nullable(),
  started_at: z.string(),
  finished_at: z.string().nullable(),
})

/** download.json: a Download with its error in both languages. */
const KeptDownload = z.object({ ...Download.shape, error: KeptWords.nullable() })
type KeptDownload = z.infer<typeof KeptDownload>

type DownloadsOptions = {
  paths: Paths
  log: Log
  /** Where the model is put to use. */
  model: Pick<Model, 'configure'>
} & Pick<DownloadOptions, 'pause_ms' | 'spare_bytes'>

export type Downloads = ReturnType<typeof createDownloads>

/**
 * createDownloads downloads one model at a time in the background. After a restart of the hub it
 * continues.
 */
export function createDownloads({ paths, log, model, ...options }: DownloadsOptions) {
  const note = join(modelsFolder(paths), 'download.json')
  let current: KeptDownload | undefined
  let running: { stop: AbortController; done: Promise<void> } | undefined
  let isClosing = false

  async function read(): Promise<KeptDownload | null> {
    if (!current) {
      const noted = KeptDownload.safeParse(await readJson(note).catch(() => undefined))
      current ??= noted.success ? noted.data : undefined
    }
    return current ?? null
  }

  /** Starts a download; returns undefined while another one runs, or for an unknown preset. */
  async function start(asked: DownloadRequest): Promise<KeptDownload | undefined> {
    if (running) return undefined
    const preset = 'preset' in asked ? presetById(asked.preset) : undefined
    const [first] = preset?.files ?? []
    if ('preset' in asked && !first) return undefined
    const begun: KeptDownload = {
      id: randomUUID(),
      preset: preset?.id ?? null,
      url: 'url' in asked ? asked.url : (first?.url ?? ''),
      sha256: 'url' in asked ? (asked.sha256?.toLowerCase() ?? null) : null,
      use: asked.use,
      status: 'processing',
      bytes: 0,
      total_bytes: preset ? preset.files.reduce((sum, { bytes }) => sum + bytes, 0) : null,
      error: null,
      started_at: new Date().toISOString(),
      finished_at: null,
    }
    run(begun)
    await writeJson(note, begun)
    return begun
  }

  function run(job: KeptDownload): void {
    current = job
    const stop = new AbortController()
    const done = fetchAll(job, stop.signal)
      .then(
        () => ({ status: 'done', error: null }) as const,
        (error: unknown) => outcomeOf(error),
      )
      .then(async (outcome) => {
        running = undefined
        if (outcome.status === 'failed') {
          log({ msg: 'model download failed', error: outcome.error?.en })
        }
        // A download that was interrupted by stopping the hub continues at the next start.
        if (!isClosing) Object.assign(job, outcome, { finished_at: new Date().toISOString() })
        await writeJson(note, job)
      })
      .catch((error: unknown) => log({ msg: 'model download', error: String(error) }))
    running = { stop, done }
  }

  async function fetchAll(job: KeptDownload, signal: AbortSignal): Promise<void> {
    const files = presetById(job.preset ?? '')?.files ?? [
      { url: job.url, sha256: job.sha256 ?? undefined },
    ]
    let finished = 0
    let noted = Date.now()
    let first: string | undefined
    for (const file of files) {
      let size = 0
      const path = await download({
        ...options,
        ...file,
        folder: modelsFolder(paths),
        signal,
        on_progress: ({ bytes, total }) => {
          size = total
          job.bytes = finished + bytes
          job.total_bytes ??= total
          if (Date.now() - noted < NOTE_MS) return
          noted = Date.now()
          writeJson(note, job).catch(() => {})
        },
      })
      first ??= path
      finished += 'bytes' in file ? file.bytes : size
      job.bytes = finished
    }
    if (!job.use || !first) return
    const settings = { kind: 'local', file: basename(first) } as const
    const known = job.preset ? { preset: job.preset } : {}
    await model.configure(await writeSetting(paths, MODELS, { ...settings, ...known }))
  }

  return {
    /** The running download, or the result of the last one. */
    read,
    start,
    /** Stops the running download; what it has fetched is kept for the next time. */
    async cancel(): Promise<KeptDownload | undefined> {
      if (!running) return undefined
      running.stop.abort()
      await running.done
      return current
    },
    /** Continues a download that the end of the last process interrupted. */
    async resume(): Promise<void> {
      const last = await read()
      if (last?.status === 'processing' && !running) run(last)
    },
    async close(): Promise<void> {
      isClosing = true
      running?.stop.abort()
      await running?.done
    },
  }
}

function outcomeOf(error: unknown): Pick<KeptDownload, 'status' | 'error'> {
  const isCancelled = error instanceof DownloadError && error.reason === 'cancelled'
  if (isCancelled) return { status: 'cancelled', error: null }
  return { status: 'failed', error: failureOf(error) }
}
