import { expect, test } from 'vitest'
import { z } from 'zod'
import '../../shared/words/issue-words.ts'
import { codesOf } from '../../shared/problem.ts'
import { refusalsText } from '../../web/api/refusals.text.ts'

const { en, tr } = refusalsText
const english = /\b(?:must|required|the|of|be)\b/i

test.each(codesOf('service'))(
  '%s is told in Turkish, and what the service says is quoted',
  (code) => {
    const [words, quoted] = tr
      .detail({ code, detail: 'The pro plan allows 50 channels.' })
      .split(' Hizmetin yanıtı: ')
    expect(words).not.toMatch(english)
    expect(words?.length).toBeGreaterThan(10)
    expect(quoted).toBe('“The pro plan allows 50 channels.”')
  },
)

test('a code that is not known, and any in English, keeps the sentence of the service', () => {
  expect(tr.detail({ code: 'new_code', detail: 'Why.' })).toBe('Why.')
  expect(en.detail({ code: 'conflict', detail: 'Why.' })).toBe('Why.')
  expect(en.message('Required.')).toBe('Required.')
})

/** What the service says of a value. */
const said = (schema: z.ZodType, value: unknown) =>
  schema.safeParse(value).error?.issues[0]?.message ?? 'nothing'

test.each<[z.ZodType, unknown, string]>([
  [z.object({ a: z.string() }), {}, 'Zorunlu.'],
  [z.string(), 1, 'Metin olmalı.'],
  [z.number(), 'a', 'Sayı olmalı.'],
  [z.int(), 1.5, 'Tam sayı olmalı.'],
  [z.boolean(), 1, 'Doğru ya da yanlış olmalı.'],
  [z.array(z.string()), 1, 'Liste olmalı.'],
  [z.object({}), 1, 'Nesne olmalı.'],
  [z.string().min(1), '', 'Boş olamaz.'],
  [z.string().min(3), 'a', 'En az 3 karakter olmalı.'],
  [z.string().max(1), 'ab', 'En çok 1 karakter olmalı.'],
  [z.array(z.string()).max(2), ['a', 'b', 'c'], 'En çok 2 öğe olmalı.'],
  [z.number().min(-90), -91, 'En az -90 olmalı.'],
  [z.number().max(0.5), 1, 'En çok 0,5 olmalı.'],
  [z.number().gt(0), 0, '0 değerinden büyük olmalı.'],
  [z.number().lt(10), 10, '10 değerinden küçük olmalı.'],
  [z.number().multipleOf(5), 3, '5 sayısının katı olmalı.'],
  [z.enum(['a', 'b']), 'c', 'Şunlardan biri olmalı: "a", "b".'],
  [z.literal('a'), 'c', '"a" olmalı.'],
  [z.uuid(), 'a', 'Bir UUID olmalı.'],
  [z.email(), 'a', 'Bir e-posta adresi olmalı.'],
  [z.url(), 'a', 'Bir URL olmalı, örneğin https://example.com/.'],
  [z.iso.date(), 'a', 'Bir gün olmalı, örneğin 2026-03-01.'],
  [z.iso.datetime(), 'a', 'ISO 8601 biçiminde bir zaman olmalı, örneğin 2026-03-01T12:00:00Z.'],
])('what is wrong with a value is told in Turkish: %#', (schema, value, expected) => {
  const sentence = said(schema, value)
  expect(sentence).toMatch(english)
  expect(tr.message(sentence)).toBe(expected)
})

test('a sentence that a rule of the service has written itself stays as it is', () => {
  const own = 'Must not lie beyond the poles.'
  expect(tr.message(own)).toBe(own)
})
