import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { columnsFrom, ImportChoices, Mapping } from '../../../hub/leads/import-row.ts'
import { domainOf, LeadChange, NewLead } from '../../../hub/leads/lead.ts'
import { columnsOf, EMPTY, requireDeal } from '../../../hub/leads/leads.ts'
import { OwnField } from '../../../hub/leads/own-fields.ts'

describe('a field of a lead', () => {
  test.each<[string, unknown, unknown]>([
    ['name', '  Ada\t\u0007 Öz\n', 'Ada Öz'],
    ['name', 'x'.repeat(200), 'x'.repeat(200)],
    ['name', null, null],
    ['email', ' Ada@X.example ', 'Ada@X.example'],
    ['email', '', ''],
    ['website', 'x.example/a:b', 'https://x.example/a:b'],
    ['website', 'HTTP://x.example', 'HTTP://x.example'],
    ['website', 'http://x.example', 'http://x.example'],
    ['website', '', ''],
    ['language', ' tr-TR ', 'tr'],
    ['language', ' ', ''],
    ...['consent', 'contract', 'legitimate_interest', null].map(
      (basis): [string, unknown, unknown] => ['lawful_basis', basis, basis],
    ),
    ['score', 0, 0],
    ['score', 100, 100],
    ['tags', [' a  b ', 'x'.repeat(60)], ['a b', 'x'.repeat(60)]],
    ['amount', 0, 0],
    ['amount', 12.34, 12.34],
    ['amount', 999_999_999_999.99, 999_999_999_999.99],
    ['currency', ' eur ', 'EUR'],
    ['currency', ' ', ''],
    ['outcome_note', ' a\0b\nc ', 'ab\nc'],
    ['outcome_note', 'x'.repeat(2000), 'x'.repeat(2000)],
    ['basis_note', 'x'.repeat(1000), 'x'.repeat(1000)],
    ['custom', { fleet_size: 40 }, { fleet_size: 40 }],
    [
      'custom',
      { a: 'x'.repeat(1000), b9_: true, c: null },
      { a: 'x'.repeat(1000), b9_: true, c: null },
    ],
    ['custom', { ['a'.repeat(40)]: 1 }, { ['a'.repeat(40)]: 1 }],
  ])('%s is kept in one form, up to its limit', (field, given, kept) => {
    expect(LeadChange.parse({ [field]: given })).toEqual({ [field]: kept })
  })

  test.each<[string, unknown[]]>([
    ['name', ['x'.repeat(201), 1]],
    ['email', ['ada', 'ada@', `${'x'.repeat(311)}@x.example`]],
    ['title', ['x'.repeat(201)]],
    ['phone', ['1'.repeat(61)]],
    ['website', ['ftp://x.example', 'xhttp://x.example', 'httpx://x.example', 'javascript:x()']],
    ['website', [`x.example/${'x'.repeat(500)}`]],
    ['country', ['x'.repeat(101)]],
    ['language', ['Klingon', 'zz']],
    ['stage', ['dreaming', '', null]],
    ['source', ['x'.repeat(201)]],
    ['lawful_basis', ['because', '']],
    ['score', [-1, 101, 1.5]],
    ['tags', [[''], ['a,b'], ['a;b'], [';a'], ['x'.repeat(61)], Array(51).fill('a')]],
    ['amount', [-0.01, 0.001, 1_000_000_000_000]],
    ['currency', ['EURO', 'DEM', 'x']],
    ['close_on', ['1.1.2026', '2026-02-30', '']],
    ['next_step', ['x'.repeat(501)]],
    ['outcome_reason', ['x'.repeat(101)]],
    ['outcome_note', ['x'.repeat(2001)]],
    ['basis_note', ['x'.repeat(1001)]],
    ['basis_source', ['x'.repeat(501)]],
    ['custom', [{ Fleet: 1 }, { '1a': 1 }, { 'a-b': 1 }, { ['a'.repeat(41)]: 1 }, { '': 1 }]],
    ['custom', [{ a: 'x'.repeat(1001) }, { a: [] }, { a: {} }]],
  ])('%s is refused beyond its limits', (field, wrong) => {
    for (const given of wrong) {
      const { error } = LeadChange.safeParse({ [field]: given })
      expect([given, error?.issues[0]?.path[0]]).toEqual([given, field])
    }
  })

  test('of a new lead one of three is needed, and the name is named', () => {
    for (const one of [{ name: 'Ada' }, { email: 'a@x.example' }, { company: 'Öz' }]) {
      expect(NewLead.safeParse(one).success).toBe(true)
    }
    for (const none of [{}, { name: '', email: '', company: null }, { title: 'CEO' }]) {
      expect(NewLead.safeParse(none).error?.issues).toMatchObject([
        { path: ['name'], message: expect.stringMatching(/name/) },
      ])
    }
  })
})

test.each([
  ['www.oz.com.tr', null, 'oz.com.tr'],
  ['https://Shop.Oz.example.com/x', 'ada@other.example', 'example.com'],
  [null, 'ada@Mail.oz.com', 'oz.com'],
  [null, 'ada@oz@oz.com', 'oz.com'],
  // A part of a platform that has an owner of its own.
  ['https://oz.github.io', null, 'oz.github.io'],
  ['https://www.facebook.com/oz', 'ada@oz.com', 'oz.com'],
  ['https://linktr.ee/oz', null, null],
  ['x.com/oz', null, null],
  ...[
    'gmail.com',
    'aol.com',
    'icloud.com',
    'mail.com',
    'mail.ru',
    'outlook.com.tr',
    'hotmail.de',
  ].map((provider) => [null, `ada@${provider}`, null] as const),
  ...['live.de', 'live.co.uk', '126.com', 'pinterest.com', 'alibaba.com', 'mynet.com'].map(
    (provider) => [null, `ada@${provider}`, null] as const,
  ),
  [null, null, null],
  ['localhost', 'ada', null],
] as const)('with the website %j and the address %j the domain is %j', (website, email, domain) => {
  expect(domainOf({ website, email })).toBe(domain)
})

describe('a field of a project’s own', () => {
  const field = { key: 'fleet', label: 'Fleet', kind: 'number' }

  test('has a label in one line, and no choices unless they are given', () => {
    expect(OwnField.parse({ ...field, label: ' Fleet \n size ' })).toEqual({
      ...field,
      label: 'Fleet size',
      choices: [],
    })
  })

  test.each([
    { key: 'a'.repeat(40) },
    { key: 'a_9' },
    { label: 'x'.repeat(60) },
    { kind: 'choice', choices: ['Gold', 'x'.repeat(60)] },
    { choices: Array.from({ length: 50 }, (_, nth) => `${nth}`) },
  ])('is taken at its limits', (more) => {
    expect(OwnField.safeParse({ ...field, ...more }).success).toBe(true)
  })

  test.each([
    { key: 'a'.repeat(41) },
    { key: 'Fleet' },
    { key: '9a' },
    { key: 'a-b' },
    { key: '' },
    { label: 'x'.repeat(61) },
    { label: ' ' },
    { kind: 'colour' },
    { choices: [''] },
    { choices: ['x'.repeat(61)] },
    { choices: Array.from({ length: 51 }, (_, nth) => `${nth}`) },
    { position: 1 },
  ])('is refused beyond its limits', (more) => {
    expect(OwnField.safeParse({ ...field, ...more }).success).toBe(false)
  })
})

describe('the choices of an import', () => {
  test('are to leave known leads as they are, unless others are made', () => {
    expect(ImportChoices.parse({})).toEqual({ duplicates: 'skip' })
  })

  test.each([
    { duplicates: 'skip' },
    { duplicates: 'merge' },
    { duplicates: 'update' },
    { tags: Array(20).fill('a') },
    { facts: Array(500).fill('a') },
    { facts: ['x'.repeat(300)] },
    { mapping: { email: 'x'.repeat(300), 'custom.fleet_9': 'Fleet' } },
    { mapping: { [`custom.${'a'.repeat(40)}`]: 'A' } },
    { lawful_basis: null },
  ])('are taken at their limits', (more) => {
    expect(ImportChoices.parse(more)).toMatchObject(more)
  })

  test.each([
    { duplicates: 'double' },
    { tags: Array(21).fill('a') },
    { facts: Array(501).fill('a') },
    { facts: [''] },
    { facts: ['x'.repeat(301)] },
    { mapping: { email: '' } },
    { mapping: { email: 'x'.repeat(301) } },
    { more: 1 },
  ])('are refused beyond their limits', (more) => {
    expect(ImportChoices.safeParse(more).success).toBe(false)
  })

  test.each(['colour', 'custom.', 'custom.Fleet', 'custom.9a', 'custom.a-b', 'xcustom.a', 'fleet'])(
    'map no column to %j',
    (field) => {
      expect(Mapping.safeParse({ [field]: 'A' }).success).toBe(false)
    },
  )
})

test('columns have a name each: one line, 280 characters, numbered where there are two or none', () => {
  const header = ['  First \n name ', '', 'A', 'A', ' ', 'a', 'A', 'x'.repeat(281)]
  expect(columnsFrom(header)).toEqual([
    'First name',
    '#2',
    'A',
    'A (2)',
    '#5',
    'a',
    'A (3)',
    'x'.repeat(280),
  ])
})

test('a numbered name is not that of another column of the file', () => {
  expect(columnsFrom(['A', 'A', 'A (2)', 'A', 'A (2)'])).toEqual([
    ...['A', 'A (3)', 'A (2)', 'A (4)', 'A (2) (2)'],
  ])
})

describe('the columns of a lead', () => {
  const TEXTS = [
    ...['name', 'email', 'company', 'title', 'phone', 'website', 'country', 'language', 'source'],
    ...['currency', 'next_step', 'outcome_reason', 'outcome_note', 'basis_note', 'basis_source'],
  ]

  test('have no empty text, each tag once, and the own fields that say something, by their keys', () => {
    const empty = Object.fromEntries(TEXTS.map((name) => [name, '']))
    const custom = { b: 0, a: false, d: '', c: 'x', e: null }
    const lead = columnsOf({ ...EMPTY, ...empty, tags: ['b', 'a', 'b'], custom })
    expect(lead).toEqual({ ...EMPTY, tags: ['b', 'a'], custom: { a: false, b: 0, c: 'x' } })
    expect(Object.keys(lead.custom)).toEqual(['a', 'b', 'c'])
  })

  test('keep what is said', () => {
    const texts = Object.fromEntries(TEXTS.map((name) => [name, `${name} of Ada`]))
    const said = {
      ...{ ...EMPTY, ...texts, website: 'https://www.ada.example', stage: 'won' as const },
      ...{ lawful_basis: 'consent' as const, score: 0, amount: 0 },
      ...{ close_on: '2026-01-01', basis_on: '2026-01-02' },
    }
    expect(columnsOf(said)).toEqual({ ...said, domain: 'ada.example' })
  })

  test.each([
    [{ amount: 0 }, ['currency required']],
    [{ amount: 5, currency: 'EUR' }, []],
    [{ currency: 'EUR' }, []],
    [{ outcome_reason: 'Price' }, ['outcome_reason not_closed']],
    [{ stage: 'proposal' as const, outcome_note: 'n' }, ['outcome_note not_closed']],
    [{ stage: 'won' as const, outcome_reason: 'Price', outcome_note: 'n' }, []],
    [{ stage: 'lost' as const, outcome_reason: 'Price', outcome_note: 'n' }, []],
    [
      { amount: 1, outcome_reason: 'a', outcome_note: 'b' },
      ['currency required', 'outcome_reason not_closed', 'outcome_note not_closed'],
    ],
  ])('of a deal with %j are refused for %j', (fields, refused) => {
    let issues: unknown = []
    try {
      requireDeal({ ...EMPTY, ...fields })
    } catch (error) {
      issues = Reflect.get(Object(error), 'issues')
    }
    const said = z.array(z.object({ path: z.string(), code: z.string() })).parse(issues)
    expect(said.map(({ path, code }) => `${path} ${code}`)).toEqual(refused)
  })
})
