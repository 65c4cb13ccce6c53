import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { link, mkdir, mkdtemp, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { z } from 'zod'
import { ApiError, invalid } from '../../../shared/problem.ts'
import { createRoute, jsonBody, jsonResponse, resource } from '../../../shared/route.ts'
import { isEncrypted, isFullDisk } from '../../backup/archive.ts'
import { backupText } from '../../backup/backup.text.ts'
import {
  backupTimes,
  Job,
  readJob,
  type Started,
  startBackup,
  startRestore,
} from '../../backup/backup.ts'
import { checkConfig, POWERS, Powers, powersIn } from '../../backup/config-files.ts'
import { backupFile, backupsIn, CHECK, listBackups, nameFor, UPLOAD } from '../../backup/make.ts'
import { BackupError, KINDS } from '../../backup/manifest.ts'
import { requireTrust, warningOf } from '../../backup/restore.ts'
import { withRoom } from '../../backup/room.ts'
import { readHead, unpack } from '../../backup/unpack.ts'
import { isMissing, isTaken } from '../../files.ts'
import { answer, type Ctx, type Env, problems, tooLong, write } from '../../http/http.ts'
import { bilingual } from '../../i18n/words.ts'

const say = bilingual(backupText)

const Backup = z
  .object({
    name: z.string(),
    kind: z.enum(KINDS),
    bytes: z.int(),
    encrypted: z.boolean(),
    created_at: z.string(),
  })
  .meta({ id: 'Backup' })
const Backups = z.object({
  backups: z.array(Backup),
  job: Job.nullable().meta({
    description: 'The last backup or restore: running, or how it ended.',
  }),
  last_at: z.string().nullable(),
  next_at: z.string(),
})
const OneJob = z.object({ job: Job })
const Name = z.string().min(1).max(200)

/** Backups of the whole hub: making, listing, downloading and restoring them. */
export const backups = resource<Env>()

backups.openapi(
  createRoute({
    method: 'get',
    path: '/backups',
    operationId: 'listBackups',
    tags: ['Backups'],
    summary: 'List the backups on this machine, newest first, and the current job',
    responses: {
      200: jsonResponse(Backups, 'Poll it while `job.status` is `running`.'),
      ...problems(),
    },
  }),
  async (c) => {
    const { paths } = c.get('deps').config
    const [backups, job, times] = await Promise.all([
      listBackups(paths),
      readJob(paths),
      backupTimes(paths),
    ])
    return answer(c, Backups, { backups, job, ...times }, 200)
  },
)

backups.openapi(
  createRoute({
    method: 'post',
    path: '/backup/run',
    operationId: 'runBackup',
    tags: ['Backups'],
    summary: 'Make a backup now',
    description: 'Only reads the database, so it also works with the public key.',
    responses: { 202: jsonResponse(OneJob, 'It runs; see GET backups.'), ...problems(409) },
  }),
  async (c) => begun(c, await startBackup(c.get('deps').config, 'manual')),
)

backups.openapi(
  createRoute({
    method: 'get',
    path: '/backup/download',
    operationId: 'downloadBackup',
    tags: ['Backups'],
    summary: 'Download a backup',
    request: { query: z.strictObject({ name: Name }) },
    responses: {
      200: {
        description: 'A tar.gz archive, encrypted with age if so configured.',
        content: { 'application/octet-stream': { schema: z.string().meta({ format: 'binary' }) } },
      },
      ...problems(404),
    },
  }),
  async (c) => {
    const { name } = c.req.valid('query')
    const file = backupFile(c.get('deps').config.paths, name)
    const { size } = await stat(file).catch(notThere)
    return c.body(Readable.toWeb(createReadStream(file)) as globalThis.ReadableStream, 200, {
      // safe: the same stream, typed twice
      'Content-Type': 'application/octet-stream',
      'Content-Length': String(size),
      'Content-Disposition': `attachment; filename="${name}"`,
    })
  },
)

backups.openapi(
  createRoute({
    method: 'post',
    path: '/backup/upload',
    operationId: 'uploadBackup',
    tags: ['Backups'],
    summary: 'Upload a backup file, to restore it later',
    request: {
      body: {
        description: 'The bytes of the archive. Required.',
        content: { 'application/octet-stream': { schema: z.string().meta({ format: 'binary' }) } },
      },
    },
    responses: {
      201: jsonResponse(z.object({ backup: Backup }), 'It is here.'),
      ...problems(413, 422),
    },
  }),
  async (c) => {
    const { paths } = c.get('deps').config
    const name = await receive(c)
    const backup = (await listBackups(paths)).find((known) => known.name === name)
    const headers = { Location: '/api/cockpit/backups' }
    return answer(c, z.object({ backup: Backup.optional() }), { backup }, 201, headers)
  },
)

backups.openapi(
  createRoute({
    method: 'post',
    path: '/backup/restore',
    operationId: 'restoreBackup',
    tags: ['Backups'],
    summary: 'Restore the hub from a backup',
    description:
      'All or nothing: the whole archive is checked first, and the current state is backed up. Afterwards the hub restarts itself; mail stays paused until it is resumed in Settings > Mail; approvals and unfinished mails must be approved again; and nobody is removed from the suppression list. The settings that decide where mail, prompts and backups go, and what agents may do, are not restored unless `take` names them.',
    middleware: write,
    request: {
      body: jsonBody(
        z.strictObject({
          name: Name,
          confirm: z
            .string()
            .max(200)
            .meta({ description: 'The name of the backup, typed again by a person to confirm.' }),
          trust: z.string().max(200).optional().meta({
            description:
              'Required for an archive that this machine did not sign: `I trust this archive` or `Bu arşive güveniyorum`, typed by a person.',
          }),
          take: Powers.optional().meta({
            description: 'The settings to restore from the archive.',
          }),
          passphrase: z.string().max(500).optional(),
          identity: z.string().max(5000).optional().meta({
            description: 'The private age key, for a backup that was encrypted for a recipient.',
          }),
        }),
      ),
    },
    responses: {
      202: jsonResponse(OneJob, 'It runs; see GET backups.'),
      ...problems(404, 409, 422),
    },
  }),
  async (c) => {
    const { config } = c.get('deps')
    const { name, confirm, trust, take, ...secret } = c.req.valid('json')
    const file = backupFile(config.paths, name)
    await stat(file).catch(notThere)
    if (confirm.trim() !== name) {
      throw invalid([{ path: 'confirm', code: 'mismatch', message: say.confirm }])
    }
    const { origin } = await readHead({ paths: config.paths, file, secret }).catch(refusedAs(''))
    try {
      requireTrust(origin, trust)
    } catch (error) {
      refusedAs('trust')(error)
    }
    return begun(c, await startRestore(config, name, { secret, trust, powers: take }))
  },
)

const Checked = z
  .object({
    ok: z.boolean(),
    reason: z.string().nullable().meta({ description: 'What is wrong with the archive.' }),
    created_at: z.string().nullable(),
    files: z.int(),
    rows: z.int().meta({ description: 'The number of rows in all tables.' }),
    signed: z
      .enum(['here', 'elsewhere', 'unsigned'])
      .nullable()
      .meta({ description: 'Who signed the archive: this machine, another hub, or nobody.' }),
    warning: z.string().nullable().meta({
      description:
        'For an archive that this machine did not sign: the warning, and the sentence to type.',
    }),
    settings: z.array(z.object({ name: z.enum(POWERS), what: z.string() })).meta({
      description:
        'The settings that differ from the current ones; name them in `take` to restore them.',
    }),
  })
  .meta({ id: 'CheckedBackup' })

backups.openapi(
  createRoute({
    method: 'post',
    path: '/backup/check',
    operationId: 'checkBackup',
    tags: ['Backups'],
    summary: 'Check a backup: open it and verify the checksum of every file',
    request: {
      body: jsonBody(
        z.strictObject({
          name: Name,
          passphrase: z.string().max(500).optional(),
          identity: z.string().max(5000).optional(),
        }),
      ),
    },
    responses: {
      200: jsonResponse(Checked, 'Whether the backup is intact.'),
      ...problems(404, 422),
    },
  }),
  async (c) => {
    const { paths } = c.get('deps').config
    const { name, ...secret } = c.req.valid('json')
    const file = backupFile(paths, name)
    await stat(file).catch(notThere)
    const folder = await mkdtemp(join(backupsIn(paths), CHECK))
    try {
      const { config } = await readHead({ paths, file, secret })
      const given = { paths, file, folder: join(folder, 'unpacked'), secret }
      const { manifest, origin } = await unpack(given)
      await checkConfig(given.folder)
      const { created_at, files, tables } = manifest
      const found = {
        ok: true,
        reason: null,
        created_at,
        files: files.length,
        rows: tables.reduce((sum, table) => sum + table.rows, 0),
        signed: origin.kind,
        warning: origin.kind === 'here' ? null : warningOf(origin),
        settings: await powersIn(paths, config),
      }
      return answer(c, Checked, found, 200)
    } catch (error) {
      if (!(error instanceof BackupError)) throw error
      const nothing = { created_at: null, files: 0, rows: 0, signed: null, warning: null }
      const found = { ok: false, reason: error.words, ...nothing, settings: [] }
      return answer(c, Checked, found, 200)
    } finally {
      // An upload that was interrupted leaves writes that end a moment later.
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    }
  },
)

backups.openapi(
  createRoute({
    method: 'post',
    path: '/backup/delete',
    operationId: 'deleteBackup',
    tags: ['Backups'],
    summary: 'Delete a backup on this machine',
    request: { body: jsonBody(z.strictObject({ name: Name })) },
    responses: { 204: { description: 'Deleted.' }, ...problems(404, 422) },
  }),
  async (c) => {
    const { name } = c.req.valid('json')
    await rm(backupFile(c.get('deps').config.paths, name)).catch(notThere)
    return c.body(null, 204)
  },
)

/** The answer for work that has started; its outcome is in the job and in the log. */
function begun(c: Ctx, { job, done }: Started) {
  const { log } = c.get('deps')
  done.then(
    (name) => log({ msg: `${job.kind} done`, name }),
    (error: unknown) =>
      log({
        msg: `${job.kind} failed`,
        error: error instanceof Error ? error.message : String(error),
        cause: error instanceof Error && error.cause ? String(error.cause) : undefined,
      }),
  )
  return answer(c, OneJob, { job }, 202)
}

async function receive(c: Ctx): Promise<string> {
  const { body } = c.req.raw
  if (!body) throw new ApiError('malformed', 'There is no body. Send the archive.')
  const { paths, max_archive_bytes } = c.get('deps').config
  const folder = backupsIn(paths)
  await mkdir(folder, { recursive: true, mode: 0o750 })
  const draft = join(folder, `${UPLOAD}${randomUUID()}`)
  try {
    const content = Readable.fromWeb(body as ReadableStream) // safe: the same stream, typed twice
    await pipeline(
      content,
      atMost(max_archive_bytes),
      withRoom(draft),
      createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true }),
    ).catch((error: unknown) => {
      throw isFullDisk(error)
        ? invalid([{ path: '', code: 'no_room', message: say.no_room_for_upload }])
        : error
    })
    const encrypted = await isEncrypted(draft)
    if (!encrypted && !(await isGzip(draft))) {
      throw invalid([{ path: '', code: 'form', message: say.no_archive }])
    }
    return await keepAs(folder, draft, encrypted)
  } finally {
    await rm(draft, { force: true })
  }
}

function atMost(bytes: number) {
  return async function* (content: AsyncIterable<Uint8Array>) {
    let size = 0
    for await (const chunk of content) {
      size += chunk.length
      if (size > bytes) throw tooLong(bytes)
      yield chunk
    }
  }
}

/** Renames an upload to a name that no other backup has. */
async function keepAs(folder: string, draft: string, encrypted: boolean): Promise<string> {
  for (let at = Date.now(); ; at++) {
    const name = nameFor('uploaded', { encrypted }, new Date(at))
    try {
      // A rename would replace an existing file of this name; a link does not.
      await link(draft, join(folder, name))
      return name
    } catch (error) {
      if (!isTaken(error)) throw error
    }
  }
}

async function isGzip(file: string): Promise<boolean> {
  const handle = await open(file)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0)
    return bytesRead === 2 && buffer.readUInt16BE() === 0x1f8b
  } finally {
    await handle.close()
  }
}

/** Turns the refusal of an archive into the error of a field. */
function refusedAs(path: string) {
  return (error: unknown): never => {
    if (!(error instanceof BackupError)) throw error
    throw invalid([{ path, code: 'unusable', message: error.words }])
  }
}

function notThere(error: unknown): never {
  if (isMissing(error)) throw new ApiError('not_found', say.absent)
  throw error
}
