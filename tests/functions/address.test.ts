import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addressLimit,
  behindGateway,
  behindProxies,
  bucketOf,
  clientAddress,
} from '../../functions/address.ts'
import { readConfig } from '../../functions/config.ts'
import type { Ctx } from '../../functions/context.ts'

const trusted = readConfig(
  {
    JOBS_DATABASE_URL: 'postgres://localhost/x',
    SEAL_KEYS: Buffer.alloc(32).toString('base64'),
    TRUSTED_PROXIES: '10.0.0.0/8, 127.0.0.1, fd00::/8',
  },
  'jobs',
).trusted_proxies

test.each([
  ['the peer is what the gateway wrote last', '1.1.1.1, 203.0.113.9', '203.0.113.9'],
  ['a trusted peer’s word is believed', '1.1.1.1, 198.51.100.1, 10.1.2.3', '198.51.100.1'],
  ['and that of no other', '198.51.100.1, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
  ['a single one is the peer', '203.0.113.9', '203.0.113.9'],
  ['without a header there is none', undefined, 'unknown'],
])('behind a gateway: %s', (_, forwarded, expected) => {
  const header = (name: string) => (name === 'x-forwarded-for' ? forwarded : undefined)
  expect(behindGateway(trusted)({ req: { header } } as unknown as Ctx)).toBe(expected) // safe: it reads no more
})

test.each([
  ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
  ['10.1.2.3', undefined, '10.1.2.3'],
  [undefined, '198.51.100.1', 'unknown'],
])(
  'a client whose socket is of %s, forwarded for %s, is %s',
  (remoteAddress, forwarded, expected) => {
    const header = (name: string) => (name === 'x-forwarded-for' ? forwarded : undefined)
    const env = { incoming: { socket: { remoteAddress } } }
    expect(clientAddress(trusted)({ req: { header }, env } as unknown as Ctx)).toBe(expected) // safe: it reads no more
  },
)

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['unknown', 'unknown'],
])('%s is limited as %s', (address, bucket) => {
  expect(bucketOf(address)).toBe(bucket)
})

describe('behindProxies', () => {
  test.each([
    ['a stranger’s word is not believed', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['a trusted proxy’s is', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    [
      'only the last hop before the proxies counts',
      '10.1.2.3',
      '1.1.1.1, 198.51.100.1, 10.9.9.9',
      '198.51.100.1',
    ],
    ['an address of the proxies’ network is one of them', '127.0.0.1', '10.0.0.7', '10.0.0.7'],
    ['nonsense ends the walk', '10.1.2.3', '198.51.100.1, unknown', '10.1.2.3'],
    ['an empty header is none', '10.1.2.3', '', '10.1.2.3'],
    ['a mapped IPv4 peer is that IPv4 address', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['IPv6 works alike', 'fd00::1', '2001:db8::7', '2001:db8::7'],
  ])('%s', (_, peer, forwarded, expected) => {
    expect(behindProxies(peer, forwarded, trusted)).toBe(expected)
  })

  test('a peer that is gone has no address', () => {
    expect(behindProxies(undefined, '198.51.100.1', trusted)).toBe('unknown')
  })

  test('forwarded headers of an untrusted peer are ignored: its own address counts', () => {
    fc.assert(
      fc.property(fc.string(), (forwarded) => {
        expect(behindProxies('203.0.113.9', forwarded, trusted)).toBe('203.0.113.9')
      }),
    )
  })
})

describe('addressLimit', () => {
  test('allows a minute’s requests at once, then one at a time, and says how long to wait', () => {
    let now = 0
    const take = addressLimit(60, () => now)
    for (let i = 0; i < 60; i += 1) expect(take('192.0.2.1')).toBe(0)
    expect(take('192.0.2.1')).toBe(1)
    expect(take('192.0.2.2')).toBe(0)
    now += 1000
    expect(take('192.0.2.1')).toBe(0)
    expect(take('192.0.2.1')).toBe(1)
    now += 60_000
    for (let i = 0; i < 60; i += 1) expect(take('192.0.2.1')).toBe(0)
  })

  test('a refused request uses up no budget', () => {
    let now = 0
    const take = addressLimit(1, () => now)
    expect(take('192.0.2.1')).toBe(0)
    for (let i = 0; i < 10; i += 1) expect(take('192.0.2.1')).toBe(60)
    now += 60_000
    expect(take('192.0.2.1')).toBe(0)
  })

  test('the addresses of an IPv6 /64 share one budget', () => {
    const take = addressLimit(1, () => 0)
    expect(take('2001:db8:1:1::1')).toBe(0)
    expect(take('2001:db8:1:1:ffff::2')).toBeGreaterThan(0)
    expect(take('2001:db8:1:2::1')).toBe(0)
  })

  test('remembers a bounded number of addresses, and forgets the one seen longest ago', () => {
    const take = addressLimit(1, () => 0)
    take('192.0.2.1')
    for (let i = 0; i < 30_000; i += 1) {
      take(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
      if (i % 1000 === 0) expect(take('192.0.2.1')).toBeGreaterThan(0)
    }
    expect(take.size()).toBe(20_000)
    expect(take('192.0.2.1')).toBeGreaterThan(0)
    expect(take('10.0.0.1')).toBe(0)
  })
})
