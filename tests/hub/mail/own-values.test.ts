import { expect, test } from 'vitest'
import {
  attributeFieldsIn,
  goExpressions,
  plainText,
  trackLinks,
} from '../../../hub/mail/render/go-template.ts'
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

test('a value of another kind than its field is shown as it is', () => {
  const shown = (values: Parameters<typeof ownShown>[1]) => ownShown(fields, values, 'en')
  expect(shown({ fleet: 'many', since: 2019, vip: 'perhaps', nick: 1200.5 })).toEqual({
    fleet: 'many',
    since: '2019',
    vip: 'perhaps',
    nick: '1200.5',
  })
  expect(shown({ fleet: true, since: false })).toMatchObject({ fleet: 'yes', since: 'no' })
  // A number is not rounded, unless it has more digits than anybody reads.
  expect(shown({ fleet: 0.1234567891 }).fleet).toBe('0.1234567891')
  expect(shown({ fleet: 0.12345678912 }).fleet).toBe('0.1234567891')
})

test('only texts change when placeholders are written as a mail has them', () => {
  const slots = { list: ['{{ nick }}', 7, null, true], more: { none: null, text: '{{.nick}}' } }
  expect(tidied({ subject: '{{nick}}', slots }, fields)).toEqual({
    subject: '{nick}',
    slots: { list: ['{nick}', 7, null, true], more: { none: null, text: '{nick}' } },
  })
})

test('what is filled in is one line, and no placeholder itself', () => {
  expect(filled('Hi {name}!', { name: 'Jo {company|x}' })).toBe('Hi Jo company!')
  expect(filled('Hi {name}!', { name: 'Jo\n {company}' })).toBe('Hi Jo company!')
  expect(filled('Hi {name}!', { name: null })).toBe('Hi!')
  expect(filled('Hi {name}!', {})).toBe('Hi!')
  expect(filled('Hi {nick}!', { own: { nick: 'a {name} b' } })).toBe('Hi a name b!')
  expect(filled('Hi {toString}!', { own: {} })).toBe('Hi {toString}!')
  expect(filled('Hi {constructor}!', { own: {} })).toBe('Hi {constructor}!')
})

test('a text stands instead of an empty value if it has 1 to 80 harmless characters', () => {
  const of = (instead: string) => placeholdersIn(`{nick|${instead}}`, fields).unfit
  for (const good of ['x', 'x'.repeat(80), ` ${'x'.repeat(80)} `, 'dear friend', "it's, ok!"]) {
    expect([good, of(good)]).toEqual([good, []])
    expect(tidied(`{{ nick | ${good} }}`, fields)).toBe(`{nick|${good.trim()}}`)
  }
  for (const bad of ['', ' ', 'x'.repeat(81), 'a<b', 'a>b', 'a"b', 'a&b', 'a|b']) {
    expect([bad, of(bad)]).toEqual([bad, ['nick']])
    expect(tidied(`{nick|${bad}}`, fields)).toBe(`{nick|${bad}}`)
  }
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
  expect(goExpressions('{fleet}', { own: 'w' })).toBe(
    '{{ with .Subscriber.Attribs.w_fleet }}{{ . }}{{ end }}',
  )
  expect(goExpressions('{first_name}', { own: 'w' })).toBe('{{ .Subscriber.FirstName }}')
})

test.each([
  [
    ['{name}', '{company}'],
    ['name', 'company'],
  ],
  [
    ['{fleet}', '{company|you} {name}'],
    ['name', 'company'],
  ],
  [['{company}', 'x'], ['company']],
  [['{fleet} {first_name}', '{names}'], []],
  [[], []],
])('of a campaign that says %j, listmonk has to know %j', (texts, found) => {
  const content = texts.map((text) => goExpressions(text, { first_name: 'f', own: 'w_1' }))
  expect(attributeFieldsIn(content, 'w_1')).toEqual(found)
  expect(attributeFieldsIn(content, 'w_2')).toEqual([])
})

test('links are counted, with and without encryption, and no other addresses', () => {
  expect(trackLinks('<a href="http://a.example/?b=1&amp;c=2">')).toBe(
    '<a href="{{ TrackLink "http://a.example/?b=1&c=2" }}">',
  )
  expect(trackLinks('<a href="https://a.example">')).toBe(
    '<a href="{{ TrackLink "https://a.example" }}">',
  )
  for (const other of ['mailto:a@b.example', '{{ UnsubscribeURL }}', 'https://a.example/{{ x }}']) {
    expect(trackLinks(`<a href="${other}">`)).toBe(`<a href="${other}">`)
  }
})

test('the key of a new field is letters of its name, and one of its own', () => {
  expect(keyOf('Müşteri Sayısı (2026)', [])).toBe('musteri_sayisi_2026')
  expect(keyOf('Fleet', ['fleet', 'fleet_2'])).toBe('fleet_3')
  expect(keyOf('2026 ✓', [])).toBe('field')
})
