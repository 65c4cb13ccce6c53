import { expect, test } from 'vitest'
import { awayUntil, returnDay, saysAway } from '../../../../hub/mail/inbox/away.ts'

const TODAY = new Date('2026-11-25T10:00:00Z')

test.each([
  ['I am out of the office until 7 December and will answer then.', '2026-12-07'],
  ['I will be back on Monday, December 7th, 2026.', '2026-12-07'],
  ['Returning 2026-12-07. For urgent matters call +90 232 555 12 12.', '2026-12-07'],
  ['Out of office from 23 November until 4 January.', '2027-01-04'],
  ['7 Aralık tarihine kadar ofis dışındayım.', '2026-12-07'],
  ["Yıllık izindeyim, 7 Aralık 2026'da tekrar ofisteyim.", '2026-12-07'],
  ['07.12.2026 tarihinde döneceğim.', '2026-12-07'],
  [
    '23.11.2026 - 04.12.2026 tarihleri arasında izindeyim, 4 Ocak itibarıyla dönüyorum.',
    '2027-01-04',
  ],
  ['Ich bin bis 7. Dezember im Urlaub.', '2026-12-07'],
  ['Back on 07.12.26.', '2026-12-07'],
  ['I return 7 December.', '2026-12-07'],
  // The other reading, the 2nd of September, is too far away.
  ['Back on 02/09/2027.', '2027-02-09'],
  ['Back on 14.13.2026.', null],
  ['Back on 45.12.2026.', null],
  ['Away until 31 November.', null],
  ['I am away until Monday. The fair is on 7 December.', null],
  ['7 December is the day of the fair. Tekrar bekleriz.', null],
  // The 7th of December or the 12th of July: only one of them is near.
  ['Back on 12/07/2026.', '2026-12-07'],
  // Both are near: the later one, so that nobody is written to on leave.
  ['Back on 01/02/2027.', '2027-02-01'],
  // The latest day, in whatever form and order they are written.
  ['Away until 2027-01-04, with a look at my mail back on 7 December.', '2027-01-04'],
  ['Back on 7 December, or until 2026-12-04 in the warehouse.', '2026-12-07'],
  // 200 days are not too far, and 201 are.
  ['On leave until 2027-06-13.', '2027-06-13'],
  ['On leave until 2027-06-14.', null],
  // Today is over.
  ['On leave until 2026-11-25.', null],
  ['On leave until 2026-11-26.', '2026-11-26'],
  [`${'x '.repeat(2000)}back on 2026-12-07`, null],
  ['I am away until 1 March 2019.', null],
  ['I am on leave. Our fair is on 9 December 2026, stand 4.', null],
  ['I am on leave until 31 February 2027.', null],
  ['I will be back in 2029-01-01 or so.', null],
  ['I am on annual leave.', null],
  ['', null],
])('the day of a return: %s', (text, day) => {
  expect(returnDay('', text, TODAY)).toBe(day)
})

test('every month in both languages', () => {
  const of = (name: string) => returnDay('', `until 20 ${name} 2026`, new Date('2026-01-01'))
  const near = [
    'January',
    'Ocak',
    'Feb',
    'Şubat',
    'March',
    'Mart',
    'Nisan',
    'May',
    'Mayıs',
    'Haziran',
  ]
  expect(near.map((name) => of(name)?.slice(5, 7))).toEqual([
    '01',
    '01',
    '02',
    '02',
    '03',
    '03',
    '04',
    '05',
    '05',
    '06',
  ])
  const late = ['Temmuz', 'July', 'Ağustos', 'Eylül', 'Sept', 'Ekim', 'Kasım', 'Aralık', 'ARALIK']
  const then = new Date('2026-07-01')
  expect(late.map((name) => returnDay('', `until 20 ${name} 2026`, then)?.slice(5, 7))).toEqual([
    '07',
    '07',
    '08',
    '09',
    '09',
    '10',
    '11',
    '12',
    '12',
  ])
})

test.each([
  'I am out of office.',
  'I am out of the office',
  'Away from my desk until Monday',
  'away from e-mail',
  'away from the office',
  'away from my email',
  'On annual leave',
  'parental leave',
  'maternity leave',
  'paternity leave',
  'sick leave',
  'on vacation',
  'on holiday',
  'on holidays',
  'on business trip',
  'on a business trip',
  'I am currently away',
  'I am travelling',
  'I am traveling',
  'I am unavailable',
  'I have limited access to email',
  'limited access to my e-mail',
  'Ofiste değilim',
  'Ofisimde değilim',
  'Ofis dışında',
  'Ofis dışı',
  'İşyeri dışındayım',
  'iş yeri dışında',
  'izindeyim',
  'izinliyim',
  'İzinli',
  'yıllık iznim',
  'doğum izni',
  'tatilde',
  'tatildeyim',
  'seyahatteyim',
  'seyahatte',
  'Ich bin abwesend',
  'nicht im Büro',
  'nicht im Haus',
  'im Urlaub',
])('"%s" is about an absence', (text) => {
  expect(saysAway('', text)).toBe(true)
  expect(saysAway(text, null)).toBe(true)
})

test.each(['The officer is in', 'season leave', 'tatilden', 'yıllık izlenim', 'a leave'])(
  '"%s" is not',
  (text) => {
    expect(saysAway('', text)).toBe(false)
  },
)

test.each([
  ['Automatic reply: Freight', 'I am out of the office.', true],
  ['Otomatik yanıt: Navlun', 'YILLIK İZİNDEYİM.', true],
  ['Re: Freight', 'We have received your message and will answer within two days.', false],
  ['Re: Freight', null, false],
])('%s: %s', (subject, text, away) => {
  expect(saysAway(subject, text)).toBe(away)
})

test('without a day a set number of days', () => {
  expect(awayUntil({ subject: '', text: 'On leave.' }, TODAY)).toBe('2026-12-02')
  expect(awayUntil({ subject: '', text: 'On leave.', days: 3 }, TODAY)).toBe('2026-11-28')
  expect(awayUntil({ subject: '', text: 'Until 1 December.', days: 3 }, TODAY)).toBe('2026-12-01')
})
