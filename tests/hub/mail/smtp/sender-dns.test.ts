import { describe, expect, test } from 'vitest'
import {
  checkSenderDns,
  type TxtResolver,
  txtRecords,
} from '../../../../hub/mail/smtp/sender-dns.ts'

const DOMAIN = 'demir.example'
const failing = (code?: string) => Object.assign(new Error('no answer'), code ? { code } : {})
/** A DNS with these records; every other name is refused with the error. */
const dns =
  (records: Record<string, string>, otherwise: unknown = failing('ENOTFOUND')): TxtResolver =>
  async (name) => {
    const found = records[name]
    if (found !== undefined) return [[found]]
    throw otherwise
  }
const checked = (records: Record<string, string>, otherwise?: unknown) =>
  checkSenderDns(DOMAIN, { resolve: dns(records, otherwise) })

test.each([
  ['v=spf1', 'present'],
  ['V=SPF1 ~all', 'present'],
  ['v=spf1-all', 'missing'],
  ['x v=spf1 -all', 'missing'],
])('a record %j of the domain: SPF is %s', async (record, state) => {
  expect((await checked({ [DOMAIN]: record })).spf.state).toBe(state)
})

test.each([
  ['v=DMARC1', 'present'],
  ['v=dmarc1 ; p=none', 'present'],
  ['v=DMARC10; p=none', 'missing'],
  ['x v=DMARC1; p=none', 'missing'],
  ['v=DMARC1 p=none', 'missing'],
])('a record %j under _dmarc: DMARC is %s', async (record, state) => {
  expect((await checked({ [`_dmarc.${DOMAIN}`]: record })).dmarc.state).toBe(state)
})

test.each([
  ['p=MIGf', 'present'],
  ['k=rsa;p=+IGf', 'present'],
  ['k=rsa;  P=MIGf', 'present'],
  ['k=rsa; p=', 'missing'],
  ['k=rsa; sp=MIGf', 'missing'],
])('a record %j of a key: DKIM is %s', async (record, state) => {
  expect((await checked({ [`mail._domainkey.${DOMAIN}`]: record })).dkim.state).toBe(state)
})

test.each(['default', 'google', 'selector1', 'selector2', 's1', 's2', 'k1', 'mail', 'dkim'])(
  'the key of a provider that names it %s is found',
  async (selector) => {
    const record = 'v=DKIM1; p=MIGf'
    const { dkim } = await checked({ [`${selector}._domainkey.${DOMAIN}`]: record })
    expect(dkim).toEqual({ state: 'present', record, advice: null })
  },
)

test('one name without an answer leaves DKIM unknown, unless a key is found', async () => {
  const asked: TxtResolver = async (name) => {
    throw failing(name.startsWith('s1.') ? 'ETIMEOUT' : 'ENODATA')
  }
  const { dkim, spf } = await checkSenderDns(DOMAIN, { resolve: asked })
  expect(dkim).toMatchObject({ state: 'unknown', record: null })
  expect(spf).toMatchObject({ state: 'missing', record: null })
  expect(dkim.advice?.en).not.toBe(spf.advice?.en)
  const found = await checked({ [`s2._domainkey.${DOMAIN}`]: 'p=MIGf' }, failing('ETIMEOUT'))
  expect([found.dkim.state, found.spf.state]).toEqual(['present', 'unknown'])
})

describe('the records of a name', () => {
  test.each([
    ['ENODATA', []],
    ['ENOTFOUND', []],
    ['ESERVFAIL', undefined],
    [undefined, undefined],
  ])('after the error %s are %j', async (code, records) => {
    expect(await txtRecords('x.example', dns({}, failing(code)))).toEqual(records)
  })

  test('are unknown after any other failure', async () => {
    expect(await txtRecords('x.example', dns({}, 'broken'))).toBeUndefined()
    expect(await txtRecords('x.example', dns({}, { code: 'ENODATA' }))).toBeUndefined()
  })
})
