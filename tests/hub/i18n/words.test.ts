import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  bilingual,
  day,
  decimal,
  isWords,
  joined,
  localize,
  moment,
  stored,
  texts,
  verbatim,
} from '../../../hub/i18n/words.ts'
import { startHub, type TestHub } from '../support/hub.ts'

const say = bilingual(
  texts(
    { gone: 'Gone.', left: (count: number) => `${count} are left.`, group: { of: 'Of it.' } },
    { gone: 'Gitti.', left: (count) => `${count} kaldı.`, group: { of: 'Ondan.' } },
  ),
)

describe('words', () => {
  test('pair both languages, filled in by the same values', () => {
    expect(say.gone).toEqual({ en: 'Gone.', tr: 'Gitti.' })
    expect(say.left(3)).toEqual({ en: '3 are left.', tr: '3 kaldı.' })
    expect(say.group.of).toEqual({ en: 'Of it.', tr: 'Ondan.' })
  })

  test('are filled into others in each language by itself', () => {
    const { because } = bilingual(
      texts({ because: (why: string) => `No: ${why}` }, { because: (why) => `Hayır: ${why}` }),
    )
    expect(because(say.gone)).toEqual({ en: 'No: Gone.', tr: 'Hayır: Gitti.' })
    expect(because('550')).toEqual({ en: 'No: 550', tr: 'Hayır: 550' })
  })

  test('are joined in each language by itself', () => {
    expect(joined([say.gone, verbatim('550 no')])).toEqual({
      en: 'Gone. 550 no',
      tr: 'Gitti. 550 no',
    })
  })

  test('are localized wherever they stand in a value, and nothing else changes', () => {
    const at = new Date()
    const value = { rows: [{ reason: say.left(2), en: 'kept', at }], none: null, tr: 1 }
    expect(localize(value, 'tr')).toEqual({
      rows: [{ reason: '2 kaldı.', en: 'kept', at }],
      none: null,
      tr: 1,
    })
  })

  test('are stored within what the column takes', () => {
    expect(JSON.parse(stored(verbatim('x'.repeat(3000)))).tr).toHaveLength(2000)
    expect(JSON.parse(stored({ en: 'a\0b', tr: `${'x'.repeat(1999)}😀` }))).toEqual({
      en: 'ab',
      tr: `${'x'.repeat(1999)}\ufffd`,
    })
  })

  test.each([
    [{ en: 'a', tr: 'b' }, true],
    [{ en: '', tr: '' }, true],
    [{ en: 'a' }, false],
    [{ en: 'a', de: 'b' }, false],
    [{ en: 'a', tr: null }, false],
    [{ en: 'a', tr: 'b', de: 'c' }, false],
    [null, false],
    [undefined, false],
    ['en', false],
  ])('whether %j is a text in both languages: %s', (value, is) => {
    expect(isWords(value)).toBe(is)
  })

  test('numbers and days are written as the language writes them', () => {
    expect([decimal('en', 1234.25), decimal('tr', 3)]).toEqual(['1,234.3', '3,0'])
    expect(day('en', '2026-03-01T23:59:59Z')).toBe('1 March 2026')
    expect(day('tr', '2026-03-02T01:30:00+03:00')).toBe('1 Mart 2026')
    expect(day('en', 'soon')).toBe('soon')
    expect(moment('en', '2026-03-15T12:00:00Z')).toMatch(/^1[456] March 2026.*\d\d:\d\d \S+$/)
    expect(moment('tr', 'yakında')).toBe('yakında')
  })
})

describe('the hub answers in the language that is asked for', () => {
  let hub: TestHub
  beforeAll(async () => {
    hub = await startHub()
  })
  afterAll(() => hub.close())

  test('a refusal, its fields and what a schema says itself', async () => {
    const wrong = { slug: 'Ş', name: '' }
    const answer = await hub.call('POST', 'projects/create', wrong, { 'Accept-Language': 'tr-TR' })
    expect(answer.status).toBe(422)
    expect(answer.headers.get('content-language')).toBe('tr')
    const { detail, errors } = await answer.json()
    expect(detail).toBe('Bazı alanlar geçerli değil.')
    expect(errors).toEqual([
      {
        path: 'slug',
        code: 'invalid_format',
        message: 'a-z, 0-9 ve - karakterlerinden 2 ila 41 tane kullanın; - ile başlamasın.',
      },
      { path: 'name', code: 'too_small', message: 'Çok kısa ya da boş.' },
    ])
  })

  test('English stands in for a language it does not have', async () => {
    const answer = await hub.call('GET', 'nowhere', undefined, {
      'Accept-Language': 'de, fr;q=0.5',
    })
    expect(answer.headers.get('content-language')).toBe('en')
    expect((await answer.json()).detail).toMatch(/^There is no route at this address/)
  })

  test('a column of words takes both languages or nothing', async () => {
    const cast = (json: string) => hub.query(`select $1::hub.words`, [json])
    await cast(stored(say.gone))
    await cast(stored(verbatim(`\0${'x'.repeat(1999)}😀`)))
    await expect(cast('{}')).rejects.toThrow(/hub.words|check constraint/)
    await expect(cast('{"en": "only"}')).rejects.toThrow(/check constraint/)
  })
})
