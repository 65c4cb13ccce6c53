import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type StartedPostgres, startPostgres } from './postgres.ts'

const ROOMY_BYTES = 4 * 1024 ** 3

/**
 * startThrowawayPostgres starts a server that makes nothing durable and is removed, with its
 * folder, at the end of this process.
 */
export async function startThrowawayPostgres(): Promise<StartedPostgres> {
  const dataDir = await mkdtemp(join(await fastTempFolder(), 'watchpost-throwaway-'))
  // As root, the server runs as another user, who must be able to enter this private folder.
  await chmod(dataDir, 0o711)
  const server = await startPostgres({ dataDir, durable: false }).catch(async (error) => {
    await rm(dataDir, { recursive: true, force: true })
    throw error
  })
  const disarm = guard(server.pid, [dataDir, server.home])
  const stop = async () => {
    await server.stop()
    await rm(server.home, { recursive: true, force: true })
    await rm(dataDir, { recursive: true, force: true })
    disarm()
  }
  return { ...server, stop }
}

/**
 * fastTempFolder returns the folder for throwaway data, or TMPDIR if that is set. A clone takes 20
 * ms in memory and up to 400 ms on a slow disk.
 */
export async function fastTempFolder(): Promise<string> {
  const memory = '/dev/shm'
  const found = await statfs(memory).catch(() => undefined)
  const roomy = found && found.bavail * found.bsize >= ROOMY_BYTES
  return roomy && !process.env.TMPDIR ? memory : tmpdir()
}

/**
 * Starts a shell that waits for a line from us. If our process ends instead, the shell cleans up.
 */
function guard(pid: number, folders: string[]): () => void {
  if (process.platform === 'win32') return () => {}
  const script = `
    read -r word && exit
    kill -QUIT "$1"
    tries=0
    while kill -0 "$1" 2>/dev/null && [ "$tries" -lt 100 ]; do tries=$((tries + 1)); sleep 0.1; done
    shift
    rm -rf "$@"`
  const shell = spawn('/bin/sh', ['-c', script, 'sh', String(pid), ...folders], {
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.on('error', () => {})
  shell.unref()
  return () => shell.stdin.end('done\n')
}
