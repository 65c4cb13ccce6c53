import { describe, expect, test } from 'vitest'
import {
  hostOf,
  inRange,
  isPrivateName,
  isPublicAddress,
  normalizeHost,
  parseAddress,
  unwrapIpv4,
} from '../../shared/addresses.ts'

describe('a private name', () => {
  test.each([
    'localhost',
    'localdomain',
    'localdomain4',
    'localdomain6',
    'local',
    'internal',
    'intranet',
    'private',
    'corp',
    'home',
    'lan',
    'svc',
    'consul',
    'home.arpa',
  ])('ends in .%s', (suffix) => {
    for (const name of [`a.${suffix}`, `a.b.${suffix.toUpperCase()}`, `a.${suffix}..`]) {
      expect(isPrivateName(name), name).toBe(true)
    }
    expect(isPrivateName(`a.x${suffix}`)).toBe(false)
    expect(isPrivateName(`a.${suffix}.org`)).toBe(false)
  })

  test.each([
    ['metadata', true],
    ['metadata.', true],
    ['', true],
    ['home.arpa', false],
    ['example.org', false],
    ['example.org.', false],
  ])('%s: %s', (name, is_private) => {
    expect(isPrivateName(name)).toBe(is_private)
  })
})

describe('an address', () => {
  // The last before, the first and the last of, and the first after a range that is not public.
  test.each([
    ['168.63.129.15', '168.63.129.16', '168.63.129.16', '168.63.129.17'],
    ['2000:ffff::', '2001::', '2001:1ff:ffff::', '2001:200::'],
    ['2001:db7:ffff::', '2001:db8::', '2001:db8:ffff::', '2001:db9::'],
    ['2001:ffff::', '2002::', '2002:ffff::', '2003::'],
    ['3ffe:ffff::', '3fff::', '3fff:fff:ffff::', '3fff:1000::'],
  ])('is public up to %s, and not from %s to %s', (before, first, last, after) => {
    expect([before, first, last, after].map((text) => isPublicAddress(text))).toEqual([
      true,
      false,
      false,
      true,
    ])
  })

  test.each([
    ['2000::', true],
    ['3fff:ffff::', true],
    ['1fff:ffff::', false],
    ['4000::', false],
    ['::808:808', false],
    ['::ffff:8.8.8.8', true],
    ['::ffff:10.0.0.1', false],
    ['64:ff9b::8.8.8.8', true],
    ['64:ff9b::10.0.0.1', false],
    ['64:ff9b::168.63.129.16', false],
    ['64:ff9b::1:808:808', false],
    ['64:ff9b:1::8.8.8.8', false],
    ['2606:4700::1%eth0', false],
    ['example.org', false],
    ['', false],
    ['8.8.8', false],
    ['0x08080808', false],
  ])('%s is public: %s', (text, is_public) => {
    expect(isPublicAddress(text)).toBe(is_public)
    const parsed = parseAddress(text)
    if (parsed) expect(isPublicAddress(parsed)).toBe(is_public)
  })

  test('is parsed as one of IPv4 or of IPv6, and a name is none', () => {
    const kinds = ['8.8.8.8', '2606::1', '::ffff:8.8.8.8', '8.8', 'a.example'].map((text) =>
      parseAddress(text)?.kind(),
    )
    expect(kinds).toEqual(['ipv4', 'ipv6', 'ipv6', undefined, undefined])
  })

  test.each([
    ['8.8.4.4', '8.8.4.4'],
    ['::ffff:8.8.4.4', '8.8.4.4'],
    ['64:ff9b::8.8.4.4', '8.8.4.4'],
    ['2002:808:404::', '2002:808:404::'],
    ['2606:4700::1', '2606:4700::1'],
  ])('%s stands for %s', (text, inside) => {
    const address = parseAddress(text)
    expect(address && unwrapIpv4(address).toString()).toBe(inside)
  })

  test('is in no range of the other version', () => {
    const [v4, v6] = [parseAddress('0.0.0.0'), parseAddress('::')]
    if (!v4 || !v6) throw new Error('both are addresses')
    expect([inRange(v4, [v4, 0]), inRange(v6, [v6, 0])]).toEqual([true, true])
    expect([inRange(v4, [v6, 0]), inRange(v6, [v4, 0])]).toEqual([false, false])
  })
})

test.each([
  ['https://Example.ORG./x', 'example.org'],
  ['https://[2606:4700::1]:8443/', '2606:4700::1'],
  ['https://8.8.8.8/', '8.8.8.8'],
])('the host of %s is %s', (url, host) => {
  expect(hostOf(new URL(url))).toBe(host)
})

test('a host is in lower case, without the dots at its end', () => {
  expect(['A.B.', 'a..', 'a.b', '.a', ''].map(normalizeHost)).toEqual(['a.b', 'a', 'a.b', '.a', ''])
})
