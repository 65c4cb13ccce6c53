import { expect, test } from 'vitest'
import { Target } from '../../../hub/backup/settings.ts'

const rsync = (destination: string) => Target.safeParse({ kind: 'rsync', destination }).success
const s3 = (more: object) =>
  Target.safeParse({
    kind: 's3',
    endpoint: 'https://s3.example.com',
    bucket: 'backups',
    access_key_id: 'a',
    secret_access_key: 'b',
    ...more,
  }).success

test.each([
  '/mnt/backups',
  '/mnt/Yedek (günlük)',
  'host:folder',
  'backup@nas.example.com:/volume1/hub',
  'backup@[2001:db8::1]:hub',
  'nas::module/hub',
  'rsync://nas.example.com/module',
  'rsync://me@nas:8730/module',
])('rsync takes %s', (destination) => expect(rsync(destination)).toBe(true))

test.each([
  ['an option', '--rsh=sh -c id'],
  ['a short option', '-e sh:x'],
  ['an option behind a blank', ' -e sh:x'],
  ['a host that ssh reads as an option', '-oProxyCommand=id:x'],
  ['the same behind a user', 'a@-oProxyCommand=id:x'],
  ['a user that ssh reads as an option', '-l@host:x'],
  ['a host with a blank', 'host -oProxyCommand=id:x'],
  ['a daemon with a dash', '-host::module'],
  ['an address with a dash', 'rsync://-host/module'],
  ['an address whose user is an option', 'rsync://-l@host/module'],
  ['a host in brackets that is none', '[-oProxyCommand=id]:x'],
  ['a folder that depends on where it runs', 'folder'],
  ['a step up from there', '../folder'],
  ['a second line', 'host:folder\n--rsh=id'],
  ['a control character', 'host:fol\u001bder'],
  ['nothing', ''],
  ['no host', ':folder'],
  ['another scheme', 'ssh://host/folder'],
])('rsync refuses %s', (_, destination) => expect(rsync(destination)).toBe(false))

test.each([
  ['a prefix that leaves the bucket', { prefix: '../other' }],
  ['one that does in the middle', { prefix: 'a/../../other' }],
  ['one that does at its end', { prefix: 'a/..' }],
  ['a query', { endpoint: 'https://s3.example.com/?x=' }],
  ['a fragment', { endpoint: 'https://s3.example.com/#' }],
  ['a password', { endpoint: 'https://a:b@s3.example.com' }],
  ['a file', { endpoint: 'file:///etc' }],
  ['a bucket with a path', { bucket: 'a/../b' }],
])('S3 refuses %s', (_, more) => expect(s3(more)).toBe(false))

test.each([
  [{}],
  [{ prefix: 'hub/one' }],
  [{ prefix: 'hub.v1/..a' }],
  [{ endpoint: 'http://10.0.0.5:9000/minio' }],
])('S3 takes %j', (more) => expect(s3(more)).toBe(true))

const hostKey = (host_key: string) =>
  Target.safeParse({ kind: 'rsync', destination: 'host:x', host_key }).success

test.each([
  ['two keys', 'ssh-ed25519 AAAA\nssh-ed25519 BBBB'],
  ['a key of any server', '* ssh-ed25519 AAAA'],
  ['a marker', '@cert-authority ssh-ed25519 AAAA'],
  ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----'],
])('the key of a server is not %s', (_, key) => expect(hostKey(key)).toBe(false))
