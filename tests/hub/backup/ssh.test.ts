import { afterEach, expect, test, vi } from 'vitest'
import { fingerprintOf, hostKeysOf } from '../../../hub/backup/ssh.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

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
  await expect(hostKeysOf('/srv/backups', 22)).rejects.toMatchObject({ code: 'invalid' })
})

test('a fingerprint is that of ssh-keygen -l', () => {
  // From `ssh-keygen -lf` for this key.
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
  expect(fingerprintOf(key)).toBe('SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU')
})
