import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmod,
  chown,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { startBackup } from '../../../hub/backup/backup.ts'
import { backupFile } from '../../../hub/backup/make.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const run = promisify(execFile)
const CLI = join(import.meta.dirname, '../../../hub/cli.ts')
/** Who the hub is here: somebody that is on every machine and is nobody. */
const USER = 'nobody'
const isRoot = process.getuid?.() === 0

/** Moves each folder that its user can move away, and lays a link to root's in its place. */
const SWAP = `
cd "$1" || exit 1
for name in backups projects models archive .restore-x; do
  mv -T "$name" "$name.was" 2> /dev/null; ln -sn "$2" "$name" 2> /dev/null
done`
/** The same over and over, for as long as it is let. */
const SWAPPING = `
cd "$1" || exit 1
while :; do
  for name in backups projects .restore-*; do
    mv -T "$name" "$name.was" 2> /dev/null && ln -sn "$2" "$name" 2> /dev/null
    rm -f "$name" 2> /dev/null; mv -T "$name.was" "$name" 2> /dev/null
  done
done`

describe.runIf(isRoot)('root restores while the hub’s user lays links', () => {
  let hub: TestHub
  let archive: string
  let outside: string
  let canary: string
  beforeAll(async () => {
    hub = await startHub()
    await hub.call('POST', 'projects/create', { slug: 'demir', name: 'Demir' })
    const name = await (await startBackup(hub.config, 'manual')).done
    outside = await mkdtemp(join(tmpdir(), 'watchpost-root-'))
    await chmod(outside, 0o755)
    archive = join(outside, 'backup.tar.gz')
    await copyFile(backupFile(hub.paths, name), archive)
    await chmod(archive, 0o600)
    await run('chown', ['-R', `${USER}:`, hub.paths.data_dir])
  })
  afterAll(async () => {
    await hub.close()
    await rm(outside, { recursive: true })
  })

  const as = (script: string) => {
    const args = [`--reuid=${USER}`, '--clear-groups', 'sh', '-c', script, 'sh']
    return [...args, hub.paths.data_dir, canary]
  }
  const restore = (given: string[]) => {
    const { config_dir, data_dir, prompts_dir } = hub.paths
    const env = {
      ...process.env,
      HUB_CONFIG_DIR: config_dir,
      HUB_DATA_DIR: data_dir,
      HUB_PROMPTS_DIR: prompts_dir,
      HUB_USER: USER,
      HUB_OWNER_URL: inject('server').adminUrl,
    }
    return run(process.execPath, [CLI, 'restore', '--yes', ...given], { env }).then(
      ({ stdout }) => ({ code: 0, said: stdout }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, said: stderr }),
    )
  }
  async function newCanary(): Promise<void> {
    canary = join(outside, 'canary')
    await rm(canary, { recursive: true, force: true })
    await mkdir(canary, { mode: 0o700 })
    await writeFile(join(canary, 'file'), 'root’s', { mode: 0o600 })
    await chown(canary, 0, 0)
  }
  async function stateOf() {
    const names = await readdir(canary, { recursive: true })
    const all = await Promise.all(
      ['.', ...names.sort()].map(async (name) => {
        const { uid, gid, mode, size, mtimeMs } = await stat(join(canary, name))
        return { name, uid, gid, mode, size, mtimeMs }
      }),
    )
    return JSON.stringify(all)
  }
  const putBack = () =>
    run('sh', [
      '-c',
      'cd "$1" && for name in *.was .*.was; do if [ -e "$name" ]; then at=$(basename "$name" .was); rm -f "$at"; mv -T "$name" "$at"; fi; done; find . -maxdepth 1 -type l -delete',
      'sh',
      hub.paths.data_dir,
    ])

  test('links laid before: nothing of root’s is written, and the refusal is told', async () => {
    await newCanary()
    const before = await stateOf()
    await run('setpriv', as(SWAP))
    const { code, said } = await restore([archive])
    expect(await stateOf(), said).toBe(before)
    expect(code).toBe(1)
    await putBack()
  })

  test('links laid all the while: nothing of root’s is written', async () => {
    await newCanary()
    const before = await stateOf()
    const swapping = spawn('setpriv', as(SWAPPING), { stdio: 'ignore' })
    const ended = once(swapping, 'exit')
    for (let at = 0; at < 3; at += 1) await restore([archive])
    swapping.kill('SIGKILL')
    await ended
    expect(await stateOf()).toBe(before)
    await putBack()
  })

  test('a backup of the list that is a link is not followed, and one of another user not taken', async () => {
    const { data_dir } = hub.paths
    const listed = 'watchpost-hub-20200101-000000000-manual.tar.gz'
    await mkdir(join(data_dir, 'backups'), { recursive: true })
    const at = join(data_dir, 'backups', listed)
    await run('ln', ['-s', archive, at])
    expect(await restore([listed])).toMatchObject({
      code: 1,
      said: expect.stringContaining('link'),
    })
    await rm(at)
    await copyFile(archive, at)
    await chown(at, 0, 0)
    const refused = await restore([listed])
    expect(refused).toMatchObject({ code: 1, said: expect.stringContaining('another user') })
    await rm(at)
  })

  test('what is restored in peace is the hub’s user’s own', async () => {
    await run('chown', ['-R', `${USER}:`, hub.paths.data_dir])
    await hub.query('delete from hub.projects')
    const { code, said } = await restore([archive])
    expect(code, said).toBe(0)
    expect(await hub.query('select from hub.projects')).toHaveLength(1)
    const { stdout } = await run('find', [hub.paths.data_dir, '-uid', '0', '-newer', archive])
    expect(stdout).toBe('')
  })
})
