import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  fingerprintOf,
  hostKeysOf,
  makeSshKey,
  publicKeyOf,
  sshCommand,
} from '../../../hub/backup/ssh.ts'
import { pathsIn } from '../../../hub/config.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

/** A folder of settings, with a program of OpenSSH that is this script. */
async function folderWith(name: string, script: string) {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-ssh-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`)
  await chmod(join(folder, name), 0o755)
  vi.stubEnv('PATH', folder)
  return pathsIn(folder)
}
const HOST = 'ayse@backup.example:/srv'
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
const FINGERPRINT = 'SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU'

test('without OpenSSH the server of a destination cannot be asked, and the way out is said', async () => {
  vi.stubEnv('PATH', '/nowhere')
  await expect(hostKeysOf('ayse@backup.example:/srv', 22)).rejects.toMatchObject({
    code: 'invalid',
    issues: [
      {
        path: 'destination',
        message: { en: 'OpenSSH is not installed on this machine. Install openssh-client.' },
      },
    ],
  })
})

test('a destination on this machine has no server to ask', async () => {
  await folderWith('ssh-keyscan', 'exit 3')
  await expect(hostKeysOf('/srv/backups', 22)).rejects.toMatchObject({
    code: 'invalid',
    issues: [
      {
        path: 'destination',
        message: { en: expect.stringMatching(/^Only a destination of the form user@host/) },
      },
    ],
  })
})

test('a fingerprint is that of ssh-keygen -l', () => {
  // From `ssh-keygen -lf` for this key.
  expect(fingerprintOf(KEY)).toBe(FINGERPRINT)
})

describe('the keys of a server', () => {
  test('are asked for at its host and port, and come with their fingerprints', async () => {
    const { config_dir } = await folderWith(
      'ssh-keyscan',
      `for a; do echo "$a"; done > "$0.asked"; echo '# backup.example'; echo 'backup.example ${KEY}'; echo; echo 'backup.example ssh-rsa AAAA'`,
    )
    expect(await hostKeysOf(HOST, 2222)).toEqual([
      { host_key: KEY, fingerprint: FINGERPRINT },
      { host_key: 'ssh-rsa AAAA', fingerprint: fingerprintOf('ssh-rsa AAAA') },
    ])
    const asked = await readFile(join(config_dir, 'ssh-keyscan.asked'), 'utf8')
    expect(asked.split('\n')).toEqual(['-T', '10', '-p', '2222', '--', 'backup.example', ''])
  })

  test.each(['exit 1', 'echo "# nothing"'])(
    'are none where no server answers: %s',
    async (script) => {
      await folderWith('ssh-keyscan', script)
      await expect(hostKeysOf(HOST, 22)).rejects.toMatchObject({
        code: 'invalid',
        issues: [
          {
            path: 'destination',
            message: { en: expect.stringMatching(/^No SSH server answered at backup\.exam/) },
          },
        ],
      })
    },
  )

  test('that cannot be asked for are another failure than a server that is away', async () => {
    await folderWith('ssh-keyscan', 'echo broken >&2; exit 2')
    await expect(hostKeysOf(HOST, 22)).rejects.toMatchObject({ code: 2, stderr: 'broken\n' })
  })
})

describe('the key of the hub', () => {
  test('is made once, of Ed25519 and without a passphrase, and reads nothing from a terminal', async () => {
    const paths = await folderWith(
      'ssh-keygen',
      `for a; do echo "<$a>"; file=$a; done > "$0.asked"; while read line; do :; done
      echo "ssh-ed25519 AAAA watchpost-hub" > "$file.pub"`,
    )
    expect(await publicKeyOf(paths)).toBeNull()
    expect(await makeSshKey(paths)).toBe('ssh-ed25519 AAAA watchpost-hub')
    expect(await publicKeyOf(paths)).toBe('ssh-ed25519 AAAA watchpost-hub')
    const asked = await readFile(join(paths.config_dir, 'ssh-keygen.asked'), 'utf8')
    expect(asked).toContain('<-t>\n<ed25519>\n<-N>\n<>\n<-C>\n<watchpost-hub>\n<-f>\n')
    expect(asked).toContain(`<${join(paths.config_dir, 'backup-ssh')}>`)
    await writeFile(join(paths.config_dir, 'ssh-keygen'), '#!/bin/sh\nexit 1\n')
    expect(await makeSshKey(paths)).toBe('ssh-ed25519 AAAA watchpost-hub')
  })

  test('gets its public half again when only the private one was written', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'watchpost-ssh-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const paths = pathsIn(folder)
    const made = await makeSshKey(paths)
    await rm(join(folder, 'backup-ssh.pub'))
    expect(await makeSshKey(paths)).toBe(made)
    expect(await publicKeyOf(paths)).toBe(made)
  })

  test('cannot be made without OpenSSH, and a failure of it is its own', async () => {
    const paths = await folderWith('ssh-keygen', 'echo full >&2; exit 1')
    await expect(makeSshKey(paths)).rejects.toMatchObject({ code: 1, stderr: 'full\n' })
    vi.stubEnv('PATH', '/nowhere')
    await expect(makeSshKey(paths)).rejects.toMatchObject({
      issues: [{ message: { en: expect.stringMatching(/^OpenSSH is not installed/) } }],
    })
  })
})

describe('rsync reaches a server', () => {
  const target = { kind: 'rsync', destination: HOST, port: 2222 } as const
  test('whose key is not known as the user of the hub does', async () => {
    const paths = await folderWith('ssh', 'exit 1')
    expect(await sshCommand(paths, { ...target, host_key: null })).toBe(
      'ssh -o BatchMode=yes -o ConnectTimeout=20 -p 2222',
    )
    await expect(readFile(join(paths.config_dir, 'backup-known-hosts'))).rejects.toThrow('ENOENT')
  })

  test('whose key is known with the key of the hub, and trusts no other', async () => {
    const paths = await folderWith('ssh', 'exit 1')
    const known = { ...target, host_key: KEY }
    await expect(sshCommand(paths, known)).rejects.toThrow('this hub has no SSH key')
    await writeFile(join(paths.config_dir, 'backup-ssh.pub'), 'ssh-ed25519 AAAA watchpost-hub\n')
    expect((await sshCommand(paths, known)).split(/ (?=-)/)).toEqual([
      'ssh',
      '-o BatchMode=yes',
      '-o ConnectTimeout=20',
      '-p 2222',
      '-F none',
      '-i backup-ssh',
      '-o IdentitiesOnly=yes',
      '-o IdentityAgent=none',
      '-o StrictHostKeyChecking=yes',
      '-o HostKeyAlias=watchpost-hub-backup',
      '-o UserKnownHostsFile=backup-known-hosts',
      '-o GlobalKnownHostsFile=/dev/null',
    ])
    const kept = await readFile(join(paths.config_dir, 'backup-known-hosts'), 'utf8')
    expect(kept).toBe(`watchpost-hub-backup ${KEY}\n`)
  })
})
