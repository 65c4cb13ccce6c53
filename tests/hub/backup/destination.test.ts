import { expect, test } from 'vitest'
import { DESTINATION, sshHostOf } from '../../../hub/backup/destination.ts'

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

test.each([
  '/mnt/nas',
  '/',
  'nas:hub',
  'nas.example:',
  'backup_1.a-b@nas.example:/srv/hub with space',
  'backup@[2001:db8::1]:hub',
  'nas.example::hub',
  'rsync://nas.example/hub',
  'rsync://backup@nas.example:873/hub',
  'rsync://[2001:db8::1]/ğ',
])('%j is a destination', (destination) => {
  expect(DESTINATION.test(destination)).toBe(true)
})

test.each([
  '',
  'hub',
  './hub',
  ' /mnt/nas',
  '/mnt/nas\n',
  'nas:a\u0000b',
  'nas:\u0085',
  'nas:::hub',
  'nas://hub',
  'nas:://hub',
  '-nas:hub',
  '-user@nas:hub',
  'us er@nas:hub',
  'a@b@nas:hub',
  'ssh://nas/hub',
  'rsync://nas.example',
  'rsync://-nas/hub',
  'rsync://nas:/hub',
  'rsync://nas:873873/hub',
  'rsync://nas:http/hub',
])('%j is no destination', (destination) => {
  expect(DESTINATION.test(destination)).toBe(false)
})
