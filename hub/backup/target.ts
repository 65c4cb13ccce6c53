import { execFile } from 'node:child_process'
import { openAsBlob } from 'node:fs'
import { promisify } from 'node:util'
import { AwsClient } from 'aws4fetch'
import type { Paths } from '../config.ts'
import { bilingual, type Words } from '../i18n/words.ts'
import { sumOf } from './archive.ts'
import { backupText } from './backup.text.ts'
import { BackupError } from './manifest.ts'
import type { Target } from './settings.ts'
import { sshCommand } from './ssh.ts'

const say = bilingual(backupText).target
const run = promisify(execFile)
const UPLOAD_MS = 60 * 60_000

/** copyToTarget copies a backup to the configured target; does nothing if there is none. */
export async function copyToTarget(
  paths: Paths,
  target: Target,
  file: string,
  name: string,
): Promise<void> {
  if (target.kind === 's3') return putObject(target, file, name)
  if (target.kind === 'rsync') return copyByRsync(paths, target, file)
}

async function putObject(
  target: Extract<Target, { kind: 's3' }>,
  file: string,
  name: string,
): Promise<void> {
  const { endpoint, bucket, region, prefix, access_key_id, secret_access_key } = target
  const key = [...prefix.split('/'), name].filter((part) => part !== '').join('/')
  const url = `${endpoint.replace(/\/+$/, '')}/${bucket}/${key}`
  const { sha256 } = await sumOf(file)
  const aws = new AwsClient({
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    service: 's3',
    region,
    // No immediate retry: uploading gigabytes can wait for the next night.
    retries: 0,
  })
  const signed = await aws.sign(url, {
    method: 'PUT',
    headers: { 'x-amz-content-sha256': sha256, 'content-type': 'application/octet-stream' },
  })
  const answer = await fetch(signed.url, {
    method: 'PUT',
    headers: signed.headers,
    // A file's Blob has a known size, which S3 requires, and is streamed rather than read into
    // memory.
    body: await openAsBlob(file),
    // No redirects: the archive only goes to the configured address.
    redirect: 'manual',
    signal: AbortSignal.timeout(UPLOAD_MS),
  }).catch((error: unknown) => {
    throw new BackupError(say.silent(new URL(url).host), { cause: error })
  })
  if (answer.ok) return void (await answer.body?.cancel())
  const code = /<Code>([\w.-]{1,60})<\/Code>/.exec((await answer.text()).slice(0, 4000))?.[1]
  throw new BackupError(say.refused(bucket, code ? `${answer.status} ${code}` : `${answer.status}`))
}

async function copyByRsync(
  paths: Paths,
  target: Extract<Target, { kind: 'rsync' }>,
  file: string,
): Promise<void> {
  const { destination } = target
  const ssh = await sshCommand(paths, target)
  // Without --partial: what is cut short must not stay there under the name of a whole backup.
  try {
    await run(
      'rsync',
      [
        '--times',
        '--timeout=300',
        // Without this option a remote shell would interpret the folder's name.
        '--protect-args',
        '-e',
        ssh,
        '--',
        file,
        `${destination.replace(/\/*$/, '')}/`,
      ],
      { timeout: UPLOAD_MS, cwd: paths.config_dir },
    )
  } catch (error) {
    throw new BackupError(failureWords(error), { cause: error })
  }
}

function failureWords(error: unknown): Words {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return say.no_rsync
  const told = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
  if (/Host key verification failed/.test(told)) return say.other_host
  if (/Permission denied \(/.test(told)) return say.unauthorized
  const [line] = told.split('\n')
  return line ? say.rsync(line.slice(0, 300).replace(/\.$/, '')) : say.rsync_silent
}
