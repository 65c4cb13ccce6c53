import { expect, test } from 'vitest'
import { goExpressions, plainText } from '../../../hub/mail/render/go-template.ts'
import { filled, ownShown, placeholdersIn, tidied } from '../../../hub/mail/render/placeholders.ts'
import { personalise } from '../../../hub/mail/render/render.ts'
import { keyOf } from '../../../hub/web/pages/project/own-field-key.ts'

const fields = [
  { key: 'fleet', label: 'Fleet', kind: 'number' as const },
  { key: 'since', label: 'Since', kind: 'date' as const },
  { key: 'vip', label: 'VIP', kind: 'yes_no' as const },
  { key: 'nick', label: 'Nickname', kind: 'text' as const },
]

test('values are written as the language of the mail has them, and none is a placeholder', () => {
  const values = { fleet: 1200.5, since: '2026-03-01', vip: true, nick: '{first_name} {{x}}' }
  expect(ownShown(fields, values, 'en')).toEqual({
    fleet: '1,200.5',
    since: 'March 1, 2026',
    vip: 'yes',
    nick: 'first_name x',
  })
  expect(ownShown(fields, values, 'tr')).toMatchObject({
    fleet: '1.200,5',
    since: '1 Mart 2026',
    vip: 'evet',
  })
  expect(ownShown(fields, { vip: false }, 'tr')).toEqual({
    fleet: '',
    since: '',
    vip: 'hayır',
    nick: '',
  })
})

test.each([
  ['Your {fleet} trucks', 'Your 40 trucks', 'Your trucks'],
  ['Your {fleet|many} trucks', 'Your 40 trucks', 'Your many trucks'],
  ['Your {{ fleet | so many }} trucks', 'Your 40 trucks', 'Your so many trucks'],
  ['{{.fleet}}!', '40!', '!'],
  ['Hello {first_name|there}, {other}', 'Hello Ayşe, {other}', 'Hello there, {other}'],
])('%s', (text, full, empty) => {
  expect(filled(text, { first_name: 'Ayşe', own: { fleet: '40' } })).toBe(full)
  expect(filled(text, { first_name: '', own: { fleet: '' } })).toBe(empty)
})

test('a text names known fields, unknown ones, and what cannot stand instead', () => {
  const texts = {
    subject: '{fleet|many} {{ .since }} {first_name} {unsubscribe_url}',
    slots: { paragraphs: ['{fleet} {flet} {vip|<b>} {nick| }', 7, '{ a: 1 } {Fleet}'] },
  }
  const { used, unknown, unfit } = placeholdersIn(texts, fields)
  expect(used.map(({ key, is_needed }) => [key, is_needed])).toEqual([
    ['fleet', true],
    ['since', true],
    ['vip', false],
    ['nick', false],
  ])
  expect([unknown, unfit]).toEqual([['flet'], ['vip', 'nick']])
  expect(tidied('{{ fleet |  many  trucks }} {{first_name}} {{ flet }} {vip|<b>}', fields)).toBe(
    '{fleet|many trucks} {first_name} {{ flet }} {vip|<b>}',
  )
})

test('the mail of each reader has their own values, escaped in HTML alone', () => {
  const mail = {
    subject: 'For {nick|you}',
    html: '<p>{nick|you}</p>',
    text: '{nick|you}',
    bytes: 0,
  }
  const given = (nick: string) =>
    personalise(mail, { own: { nick }, unsubscribe_url: 'https://hub.example/u' })
  expect(given('A & <B>')).toMatchObject({
    subject: 'For A & <B>',
    html: '<p>A &amp; &lt;B&gt;</p>',
    text: 'A & <B>',
  })
  expect(given('')).toMatchObject({ subject: 'For you', html: '<p>you</p>' })
})

test('listmonk fills them from attributes of the draft', () => {
  const attributes = { first_name: 'w_first_name', own: 'w_1a2b3c4d' }
  expect(goExpressions('Your {fleet} trucks', attributes)).toBe(
    'Your{{ with .Subscriber.Attribs.w_1a2b3c4d_fleet }} {{ . }}{{ end }} trucks',
  )
  expect(plainText('Your {fleet|many} trucks', attributes)).toBe(
    'Your{{ with .Subscriber.Attribs.w_1a2b3c4d_fleet }} {{ Safe . }}{{ else }} many{{ end }} trucks',
  )
  expect(goExpressions('{fleet}', { first_name: 'w' })).toBe('{fleet}')
})

test('the key of a new field is letters of its name, and one of its own', () => {
  expect(keyOf('Müşteri Sayısı (2026)', [])).toBe('musteri_sayisi_2026')
  expect(keyOf('Fleet', ['fleet', 'fleet_2'])).toBe('fleet_3')
  expect(keyOf('2026 ✓', [])).toBe('field')
})
