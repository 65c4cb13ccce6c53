import { expect, test } from 'vitest'
import { fillOwnFields, ownFieldsIn } from '../../../hub/mail/render/own-values.ts'
import { keyOf } from '../../../hub/web/pages/project/own-field-key.ts'

const fields = [
  { key: 'fleet', kind: 'number' },
  { key: 'since', kind: 'date' },
  { key: 'vip', kind: 'yes_no' },
  { key: 'nick', kind: 'text' },
]

test('a mail has the values of own fields, an empty one goes with its space, and none is a placeholder', () => {
  const values = { fleet: 1200.5, since: '2026-03-01', vip: true, nick: '{first_name} {{x}}' }
  const texts = {
    text: 'Your {fleet} trucks since {since}, {vip}: {nick}, {first_name}, {unknown}.',
    slots: { paragraphs: ['Hi {{ fleet }}', 7] },
  }
  expect(fillOwnFields(texts, { fields, values, language: 'en' })).toEqual({
    text: 'Your 1,200.5 trucks since March 1, 2026, yes: first_name x, {first_name}, {unknown}.',
    slots: { paragraphs: ['Hi 1,200.5', 7] },
  })
  const none = fillOwnFields('Your {fleet} trucks', { fields, values: {}, language: 'tr' })
  expect(none).toBe('Your trucks')
  expect(fillOwnFields('{vip}', { fields, values, language: 'tr' })).toBe('evet')
  expect(ownFieldsIn(texts, fields)).toEqual(['fleet', 'since', 'vip', 'nick'])
  expect(ownFieldsIn({ a: '{first_name} fleet' }, fields)).toEqual([])
})

test('the key of a new field is letters of its name, and one of its own', () => {
  expect(keyOf('Müşteri Sayısı (2026)', [])).toBe('musteri_sayisi_2026')
  expect(keyOf('Fleet', ['fleet', 'fleet_2'])).toBe('fleet_3')
  expect(keyOf('2026 ✓', [])).toBe('field')
})
