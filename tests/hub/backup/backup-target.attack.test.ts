import { expect, test } from 'vitest'
import { BackupSettings, Encryption, Target } from '../../../hub/backup/settings.ts'

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

const S3 = {
  kind: 's3',
  endpoint: 'https://s3.example.com',
  bucket: 'backups',
  access_key_id: 'AKID',
  secret_access_key: 'secret',
}
const HOST_KEY = `ssh-ed25519 ${'A'.repeat(60)}`

test.each<[field: string, good: unknown[], bad: unknown[]]>([
  [
    'endpoint',
    ['http://10.0.0.1:9000', 'https://s3.example.com/minio', 'HTTPS://s3.example.com/'],
    [
      ...['ftp://s3.example.com', 's3.example.com', 'https://me:secret@s3.example.com'],
      ...['https://s3.example.com/?a', 'https://s3.example.com/#a', `https://${'x'.repeat(500)}`],
      ...['https://s3.example.com/a?b', 'xhttps://s3.example.com'],
    ],
  ],
  [
    'bucket',
    ['abc', 'a.b-c', '0bc', 'ab', 'x'.repeat(63)],
    ['a', 'Abc', '-abc', '.abc', 'a_b', 'a/b', 'abc/', ' abc', 'x'.repeat(64), ''],
  ],
  ['region', ['eu-central-1', 'x'.repeat(40)], ['EU', '', 'a b', 'x/', '/x', 'x'.repeat(41)]],
  [
    'prefix',
    ['', 'a/b', 'a.b/..c', 'Hub_1-a', 'x'.repeat(200)],
    ['..', '.', 'a/..', 'a/../b', './a', 'a/./b', 'a b', ' a', 'a?', 'x'.repeat(201)],
  ],
  ['access_key_id', ['A', 'x'.repeat(200)], ['', 'x'.repeat(201)]],
  ['secret_access_key', ['A', 'x'.repeat(200)], ['', 'x'.repeat(201), undefined]],
])('the %s of an S3 server is %j, and not %j', (field, good, bad) => {
  const taken = (value: unknown) => Target.safeParse({ ...S3, [field]: value }).success
  for (const value of good) expect([value, taken(value)]).toEqual([value, true])
  for (const value of bad) expect([value, taken(value)]).toEqual([value, false])
})

test.each<[field: string, good: unknown[], bad: unknown[]]>([
  [
    'host_key',
    [
      ...[HOST_KEY, `${HOST_KEY}==`, HOST_KEY.replace('ed25519', 'rsa'), null, undefined],
      ...[256, 384, 521].map((bits) => `ecdsa-sha2-nistp${bits} AAAA+/=`),
    ],
    [
      ...['', 'ssh-dss AAAA', 'ssh-ed25519', 'ssh-ed25519 ', `x${HOST_KEY}`, `${HOST_KEY} me@x`],
      ...[`${HOST_KEY}===`, 'ecdsa-sha2-nistp128 AAAA', `ssh-rsa ${'A'.repeat(2000)}`],
    ],
  ],
  ['port', [1, 22, 65_535, undefined], [0, 65_536, 22.5, '22']],
])('the %s of an SSH server is %j, and not %j', (field, good, bad) => {
  const server = { kind: 'rsync', destination: 'backup@nas.example:hub' }
  const taken = (value: unknown) => Target.safeParse({ ...server, [field]: value }).success
  for (const value of good) expect([value, taken(value)]).toEqual([value, true])
  for (const value of bad) expect([value, taken(value)]).toEqual([value, false])
})

test.each<[object, boolean]>([
  [{ kind: 'none' }, true],
  [{ kind: 'passphrase', passphrase: 'x'.repeat(12) }, true],
  [{ kind: 'passphrase', passphrase: 'x'.repeat(500) }, true],
  [{ kind: 'passphrase', passphrase: 'x'.repeat(11) }, false],
  [{ kind: 'passphrase', passphrase: 'x'.repeat(501) }, false],
  [{ kind: 'recipient', recipient: 'age1q' }, true],
  [{ kind: 'recipient', recipient: 'age1q2z' }, true],
  [{ kind: 'recipient', recipient: 'age1' }, false],
  [{ kind: 'recipient', recipient: 'xage1q' }, false],
  [{ kind: 'recipient', recipient: 'age1Q' }, false],
  [{ kind: 'recipient', recipient: 'age1q q' }, false],
  [{ kind: 'recipient', recipient: `age1${'q'.repeat(3997)}` }, false],
  [{ kind: 'none', passphrase: 'x'.repeat(12) }, false],
])('the encryption %j is taken: %s', (encryption, isTaken) => {
  expect(Encryption.safeParse(encryption).success).toBe(isTaken)
})

test('a target has no other fields', () => {
  const server = { kind: 'rsync', destination: 'backup@nas.example:hub' }
  for (const target of [S3, server, { kind: 'none' }]) {
    expect(Target.safeParse(target).success).toBe(true)
    expect(Target.safeParse({ ...target, other: 'x' }).success).toBe(false)
  }
})

test('backups have their defaults and their limits', () => {
  const defaults = {
    hour: 3,
    keep_daily: 14,
    encryption: { kind: 'none' },
    target: { kind: 'none' },
  }
  expect(BackupSettings.parse({})).toEqual(defaults)
  const taken = (given: object) => BackupSettings.safeParse(given).success
  expect([0, 23].map((hour) => taken({ hour }))).toEqual([true, true])
  expect([-1, 24, 1.5].map((hour) => taken({ hour }))).toEqual([false, false, false])
  expect([1, 365].map((keep_daily) => taken({ keep_daily }))).toEqual([true, true])
  expect([0, 366].map((keep_daily) => taken({ keep_daily }))).toEqual([false, false])
  expect(taken({ target: S3 })).toBe(false)
  expect(taken({ target: S3, encryption: { kind: 'recipient', recipient: 'age1q' } })).toBe(true)
  expect(Target.parse(S3)).toMatchObject({ region: 'us-east-1', prefix: '' })
  expect(Target.parse({ kind: 'rsync', destination: 'backup@nas.example:hub' })).toMatchObject({
    port: 22,
    host_key: null,
  })
})

test('a copy elsewhere without encryption is refused at the encryption', () => {
  const target = { kind: 'rsync', destination: 'nas.example:hub' }
  const { error } = BackupSettings.safeParse({ target })
  expect(error?.issues.map(({ path }) => path)).toEqual([['encryption']])
})

test.each([
  ['https://s3.example', '', true],
  ['http://s3.example/path', 'a/b.c', true],
  ['xhttps://s3.example', '', false],
  ['httpsx://s3.example', '', false],
  ['https://s3.example', 'aa/../b', false],
  ['https://s3.example', 'aa/bb/.', false],
])('the bucket at %s with the folder “%s”: %s', (endpoint, prefix, isTaken) => {
  const target = {
    kind: 's3',
    endpoint,
    prefix,
    bucket: 'hub',
    access_key_id: 'a',
    secret_access_key: 'b',
  }
  expect(Target.safeParse(target).success).toBe(isTaken)
})
