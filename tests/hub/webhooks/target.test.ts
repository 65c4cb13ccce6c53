import { expect, test } from 'vitest'
import { isForbidden, requireTarget } from '../../../hub/webhooks/target.ts'

test('a webhook is never in the networks of a machine’s own secrets', () => {
  const never = ['169.254.1.1', 'fe80::1', 'FE9f::1', 'fea0::1', 'febf::1', 'fd00:ec2::254']
  never.push('::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '64:ff9b::a9fe:a9fe')
  for (const address of never) expect(isForbidden(address), address).toBe(true)
  const others = [
    '::ffff:a00:5',
    '1.169.254.1',
    '169.253.1.1',
    'fec0::1',
    'fe7f::1',
    '1:fe80::1',
    'fd00:ec3::1',
  ]
  for (const address of others) expect(isForbidden(address), address).toBe(false)
})

test.each([
  ['https://10.0.0.5/x', false, 'private'],
  ['https://localhost/x', false, 'private'],
  ['https://[::1]/x', false, 'private'],
  ['https://nas.local/x', false, 'private'],
  ['http://hooks.example/x', false, 'no_https'],
  ['https://user:pass@hooks.example/x', false, 'credentials'],
  ['https://user@hooks.example/x', true, 'credentials'],
  ['https://169.254.169.254/latest', true, 'forbidden'],
  ['http://[::ffff:169.254.169.254]/latest', true, 'forbidden'],
  ['ftp://hooks.example/x', true, 'no_https'],
  ['hooks.example', false, 'no_url'],
])('a webhook may not be at %s (private allowed: %s): %s', (url, allow_private, code) => {
  const issues = [expect.objectContaining({ path: 'url', code })]
  expect(() => requireTarget(url, { allow_private })).toThrow(expect.objectContaining({ issues }))
})

test.each([
  ['https://hooks.example/x', false],
  ['http://10.0.0.5/x', true],
  ['https://nas.local/x', true],
])('a webhook may be at %s (private allowed: %s)', (url, allow_private) => {
  expect(() => requireTarget(url, { allow_private })).not.toThrow()
})
