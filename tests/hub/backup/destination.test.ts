import { expect, test } from 'vitest'
import { sshHostOf } from '../../../hub/backup/destination.ts'

test.each([
  ['backup@nas.example:hub', 'nas.example'],
  ['nas.example:/srv/hub', 'nas.example'],
  ['backup@[2001:db8::1]:hub', '2001:db8::1'],
  ['/mnt/nas:hub', undefined],
  ['nas.example::hub', undefined],
  ['rsync://nas.example/hub', undefined],
  ['rsync://backup@nas.example:873/hub', undefined],
  ['-oProxyCommand=x:hub', undefined],
  ['backup@-oProxyCommand=x:hub', undefined],
])('%s is reached by SSH at %s', (destination, host) => {
  expect(sshHostOf(destination)).toBe(host)
})
