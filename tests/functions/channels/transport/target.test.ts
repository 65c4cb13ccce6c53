import { describe, expect, test } from 'vitest'
import {
  checkTarget,
  isPermitted,
  localAddresses,
  maskTarget,
  parseAllowList,
} from '../../../../functions/channels/transport/target.ts'

const nobody = parseAllowList('')
const verdict = (url: string, setting = '') => {
  const result = checkTarget(url, { allow: parseAllowList(setting) })
  return result.ok ? 'ok' : result.code
}

describe('a target is refused', () => {
  test.each([
    // The ways to write 127.0.0.1
    ['https://127.0.0.1/', 'private_address'],
    ['https://2130706433/', 'private_address'],
    ['https://0x7f000001/', 'private_address'],
    ['https://0177.0.0.1/', 'private_address'],
    ['https://127.1/', 'private_address'],
    ['https://0x7f.1/', 'private_address'],
    ['https://127.0.0.1./', 'private_address'],
    ['https://１２７.0.0.1/', 'private_address'],
    ['https://[::1]/', 'private_address'],
    ['https://[::ffff:127.0.0.1]/', 'private_address'],
    ['https://[::ffff:7f00:1]/', 'private_address'],
    ['https://[::127.0.0.1]/', 'private_address'],
    ['https://[::ffff:0:127.0.0.1]/', 'private_address'],
    ['https://[64:ff9b::127.0.0.1]/', 'private_address'],
    ['https://[64:ff9b:1::127.0.0.1]/', 'private_address'],
    ['https://[2002:7f00:1::]/', 'private_address'],
    ['https://[2001:0:7f00:1::]/', 'private_address'],
    // Every special range
    ['https://0.0.0.0/', 'private_address'],
    ['https://0.1.2.3/', 'private_address'],
    ['https://10.1.2.3/', 'private_address'],
    ['https://100.64.0.1/', 'private_address'],
    ['https://100.100.100.200/', 'private_address'],
    ['https://168.63.129.16/', 'private_address'],
    ['https://169.254.169.254/latest/meta-data', 'private_address'],
    ['https://172.16.0.1/', 'private_address'],
    ['https://172.31.255.255/', 'private_address'],
    ['https://192.0.0.192/', 'private_address'],
    ['https://192.0.2.1/', 'private_address'],
    ['https://192.88.99.1/', 'private_address'],
    ['https://192.168.1.1/', 'private_address'],
    ['https://198.18.0.1/', 'private_address'],
    ['https://198.51.100.1/', 'private_address'],
    ['https://203.0.113.1/', 'private_address'],
    ['https://224.0.0.1/', 'private_address'],
    ['https://240.0.0.1/', 'private_address'],
    ['https://255.255.255.255/', 'private_address'],
    ['https://[::]/', 'private_address'],
    ['https://[fe80::1]/', 'private_address'],
    ['https://[fec0::1]/', 'private_address'],
    ['https://[fc00::1]/', 'private_address'],
    ['https://[fd00:ec2::254]/', 'private_address'],
    ['https://[ff02::1]/', 'private_address'],
    ['https://[2001:db8::1]/', 'private_address'],
    ['https://[3fff::1]/', 'private_address'],
    ['https://[100::1]/', 'private_address'],
    ['https://[5f00::1]/', 'private_address'],
    ['https://[4000::1]/', 'private_address'],
    // Names
    ['https://localhost/', 'private_name'],
    ['https://LOCALHOST./', 'private_name'],
    ['https://app.localhost/', 'private_name'],
    ['https://localhost.localdomain/', 'private_name'],
    ['https://printer.local/', 'private_name'],
    ['https://metadata.google.internal/', 'private_name'],
    ['https://metadata/', 'private_name'],
    ['https://postgres:5432/', 'private_name'],
    ['https://nas.home.arpa/', 'private_name'],
    // Forms
    ['http://example.org/', 'plain_http'],
    ['http://93.184.215.14/', 'plain_http'],
    ['ftp://example.org/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['https://user:pass@example.org/', 'credentials'],
    ['https://user@example.org/', 'credentials'],
    ['https://:pass@example.org/', 'credentials'],
    ['example.org/hook', 'malformed'],
    ['', 'malformed'],
    ['https://', 'malformed'],
    ['https://[fe80::1%25eth0]/', 'malformed'],
    ['https://256.1.1.1/', 'malformed'],
    [`https://example.org/${'a'.repeat(2029)}`, 'malformed'],
  ])('%s: %s', (url, code) => {
    expect(verdict(url)).toBe(code)
  })
})

describe('a target is accepted', () => {
  test.each([
    'https://example.org/hook',
    'https://example.org:8443/hook?key=1',
    'https://bücher.example/',
    'https://93.184.215.14/',
    'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
    'https://[64:ff9b::93.184.215.14]/',
    'https://localhost.example.org/',
    'https://internal.example.org/',
    'https://169.254.169.254.example.org/',
    `https://example.org/${'a'.repeat(2028)}`,
  ])('%s', (url) => {
    expect(verdict(url)).toBe('ok')
  })
})

describe('the allow list', () => {
  test.each([
    ['127.0.0.1/32', 'http://127.0.0.1:9000/', 'ok'],
    ['127.0.0.1', 'http://127.0.0.1:9000/', 'ok'],
    ['127.0.0.1', 'http://2130706433/', 'ok'],
    ['127.0.0.1', 'http://[::ffff:127.0.0.1]/', 'ok'],
    ['127.0.0.1', 'http://localhost:9000/', 'ok'],
    ['::1', 'http://localhost:9000/', 'ok'],
    ['::1', 'http://[::1]:9000/', 'ok'],
    ['10.0.0.0/8', 'https://10.1.2.3/', 'ok'],
    ['10.0.0.0/8', 'http://grafana.example.org/', 'ok'],
    ['fd00::/8', 'https://[fd12::1]/', 'ok'],
    ['Grafana.Lan', 'http://grafana.lan:3000/', 'ok'],
    ['relay', 'http://relay/', 'ok'],
    // It lets through what it names, and the shield stays up for all else.
    ['127.0.0.1', 'http://127.0.0.2/', 'private_address'],
    ['127.0.0.1', 'https://169.254.169.254/', 'private_address'],
    ['127.0.0.1', 'https://[::1]/', 'private_address'],
    ['10.0.0.0/8', 'http://localhost/', 'private_name'],
    ['10.0.0.0/8', 'https://11.1.2.3/', 'ok'],
    ['10.0.0.0/8', 'http://11.1.2.3/', 'plain_http'],
    ['10.0.0.0/8', 'https://db.internal/', 'private_name'],
    ['relay', 'http://relay.evil.example/', 'plain_http'],
    ['relay', 'http://other/', 'private_name'],
    ['relay', 'http://example.org/', 'plain_http'],
    ['example.org', 'https://user@example.org/', 'credentials'],
  ])('%s makes %s %s', (setting, url, expected) => {
    expect(verdict(url, setting)).toBe(expected)
  })

  test('a malformed entry stops the start; its position is named, not its value', () => {
    for (const bad of [
      '10.0.0.0/33',
      '10.0.0/8',
      '10.0.0',
      '10.0.0.256',
      'http://a',
      'a b',
      '-x',
      '10.0.0.0/8/8',
      '::/129',
    ]) {
      const parse = () => parseAllowList(`127.0.0.1, ${bad}`)
      expect(parse, bad).toThrow('ALLOW_PRIVATE_TARGETS: entry 2')
      expect(parse, bad).not.toThrow(bad)
    }
  })

  test.each([
    ['10.0.0.2', 'https://10.0.0.2/', 'https://10.0.0.3/'],
    ['fd00::2', 'https://[fd00::2]/', 'https://[fd00::3]/'],
  ])('%s alone permits %s and not %s', (setting, permitted, other) => {
    expect([verdict(permitted, setting), verdict(other, setting)]).toEqual([
      'ok',
      'private_address',
    ])
  })

  test('a name has at most 253 characters', () => {
    const ofLength = (length: number) => `${'a.'.repeat(100)}${'b'.repeat(length - 200)}`
    expect(parseAllowList(ofLength(253)).names.size).toBe(1)
    expect(() => parseAllowList(ofLength(254))).toThrow('entry 1')
  })

  test('localhost and the names below it are this machine, others that end alike are not', () => {
    const allow = parseAllowList('127.0.0.1')
    for (const host of ['localhost', 'LOCALHOST.', 'a.localhost']) {
      expect(localAddresses(host, allow), host).toEqual(['127.0.0.1'])
      expect(localAddresses(host, nobody), host).toEqual([])
    }
    for (const host of ['notlocalhost', 'a.notlocalhost', 'localhost.example.org']) {
      expect(localAddresses(host, allow), host).toBeNull()
    }
  })

  test('absent, empty and spaced settings are fine', () => {
    expect(parseAllowList(undefined)).toEqual(nobody)
    expect(parseAllowList(' 10.0.0.0/8 , , relay ')).toMatchObject({ names: new Set(['relay']) })
  })
})

test('a refusal says the way out', () => {
  const refusal = checkTarget('https://10.1.2.3/hook', { allow: nobody })
  expect(refusal).toMatchObject({ message: expect.stringContaining('ALLOW_PRIVATE_TARGETS') })
})

test('over plain http only permitted addresses are dialled', () => {
  const allow = parseAllowList('10.0.0.0/8')
  const host = 'grafana.example.org'
  const dial = (address: string, is_plain: boolean) =>
    isPermitted(address, { allow, host, is_plain })
  expect(dial('10.1.1.1', true)).toBe(true)
  expect(dial('93.184.215.14', true)).toBe(false)
  expect(dial('93.184.215.14', false)).toBe(true)
  expect(dial('192.168.1.1', false)).toBe(false)
  expect(dial('no address', false)).toBe(false)
})

test('a permitted name is dialled wherever it leads, however it is written, and no other one', () => {
  const allow = parseAllowList('relay, grafana.internal')
  const dial = (host: string, is_plain = true) =>
    isPermitted('192.168.1.1', { allow, host, is_plain })
  for (const host of ['relay', 'relay.', 'Relay', 'GRAFANA.internal.']) {
    expect([host, dial(host), dial(host, false)]).toEqual([host, true, true])
  }
  for (const host of ['relay2', 'a.relay', 'internal'])
    expect([host, dial(host)]).toEqual([host, false])
})

test('a masked target shows its host and hides its credentials', () => {
  expect(maskTarget('https://hooks.example.org:8443/s3cr3t?key=k')).toBe(
    'https://hooks.example.org:8443/…',
  )
  expect(maskTarget('s3cr3t')).toBe('…')
})
