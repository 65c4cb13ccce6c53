import { expect, test } from 'vitest'
import { isOutdated } from '../../../../hub/agents/evidence/outdated.ts'

test.each<[string, string, string, boolean]>([
  ['We won a prize last year.', '2025-12-31T10:00:00Z', '2026-01-01T10:00:00Z', true],
  ['We won a prize last year.', '2026-01-01T10:00:00Z', '2026-12-31T10:00:00Z', false],
  ['They open a depot this month.', '2026-03-31T23:59:00Z', '2026-04-01T00:01:00Z', true],
  ['They open a depot next week.', '2026-11-23T08:00:00Z', '2026-11-29T08:00:00Z', false],
  ['They open a depot next week.', '2026-11-29T08:00:00Z', '2026-11-30T08:00:00Z', true],
  ['He called yesterday.', '2026-11-25T08:00:00Z', '2026-11-26T08:00:00Z', true],
  ['Sales rose this quarter.', '2026-03-31T08:00:00Z', '2026-04-01T08:00:00Z', true],
  ['Geçen ay bir depo açtılar.', '2026-10-31T08:00:00Z', '2026-11-01T08:00:00Z', true],
  ['Bu yıl 300 sürücüyü eğittik.', '2025-05-01T08:00:00Z', '2026-05-01T08:00:00Z', true],
  ['They run 40 trucks.', '2020-01-01T08:00:00Z', '2026-05-01T08:00:00Z', false],
  ['The dünya map is large.', '2020-01-01T08:00:00Z', '2026-05-01T08:00:00Z', false],
])('%s noted %s, read %s: outdated %s', (text, noted, now, outdated) => {
  expect(isOutdated(text, noted, new Date(now))).toBe(outdated)
})

const ago = (days: number) => new Date(Date.UTC(2026, 4, 20 - days)).toISOString()
const TURKISH = ['bu', 'geçen', 'geçtiğimiz', 'önceki', 'gelecek', 'önümüzdeki']
const ENGLISH = ['this', 'last', 'next', 'past', 'previous', 'coming']
const each = (words: string[], ...ends: string[]) =>
  ends.flatMap((end) => words.map((word) => `${word} ${end}`))

/** Words, and how many days later they are still right and no longer, noted on Wednesday 20 May 2026. */
const PERIODS: [right: number, wrong: number, words: string[]][] = [
  [
    0,
    1,
    [
      ...['today', 'yesterday', 'tomorrow', 'tonight', 'bugün', 'dün', 'yarın', 'bu sabah'],
      ...['bu akşam', '2 days ago', '1 day ago', '3 weeks ago', '10 week ago', '2 gün önce'],
      ...['14 hafta önce', 'Today', 'BUGÜN', 'two days ago', 'a week ago', 'hours ago'],
      ...['iki gün önce', 'birkaç hafta önce', 'bir saat önce', 'last night', 'this morning'],
      ...['last Friday', 'next Monday', 'geçen cuma', 'bu gece', 'gelecek pazartesi'],
      ...['last 3 days', 'past two weeks', 'last 24 hours', 'next few days', 'past couple of days'],
      ...['bugünkü', 'dünden', 'yarına', 'the other day', 'in recent weeks', 'geçen cumaya'],
      ...['son 3 gün', 'son iki haftada', 'son günlerde', 'son 24 saatte', 'önümüzdeki iki hafta'],
    ],
  ],
  [
    4,
    5,
    [
      ...each(ENGLISH, 'week', 'weekend'),
      ...each(TURKISH, 'hafta', 'haftaya', 'haftanın', 'haftaki'),
    ],
  ],
  [
    11,
    12,
    [
      ...each(ENGLISH, 'month'),
      'a month ago',
      'two months ago',
      'past 12 months',
      'last few months',
    ],
  ],
  [11, 12, [...each(TURKISH, 'ayın', 'ayki', 'haziranda', 'ocakta'), 'last June', 'this May']],
  [11, 12, [...each(TURKISH, 'ay'), '2 ay önce', 'son 3 ayda', 'son altı ay', 'son aylarda']],
  [
    41,
    42,
    [
      ...each(ENGLISH, 'quarter'),
      'last two quarters',
      'son iki çeyrek',
      ...each(TURKISH, 'çeyrek', 'çeyrekte'),
    ],
  ],
  [
    225,
    226,
    [
      ...each(ENGLISH, 'year', 'spring', 'summer', 'autumn', 'winter'),
      ...each(TURKISH, 'yıl', 'sene', 'ilkbahar', 'yaz', 'sonbahar', 'kış'),
      ...['a year ago', 'two years ago', 'bir yıl önce', 'iki sene önce', 'recently', 'lately'],
      ...['soon', 'currently', 'at the moment', 'so far', 'son zamanlarda', 'yakında'],
      ...['şu anda', 'şimdilik', 'last two years', 'past few years', 'coming years', 'this fall'],
      ...each(TURKISH, 'yıla', 'yılın', 'yıldan', 'yılki', 'senenin', 'yaza', 'kıştan'),
      ...['a while ago', 'now', 'to date', 'in recent years', 'last decade', 'just opened'],
      ...['geçenlerde', 'kısa süre önce', 'şimdi', 'bugünlerde', 'year on year'],
      ...['son iki yılda', 'son yıllarda', 'son 5 sene', 'önümüzdeki üç yıl'],
    ],
  ],
]

test.each(
  PERIODS.flatMap(([right, wrong, all]) => all.map((words) => [words, right, wrong] as const)),
)('“%s” is right for %i days and wrong after %i', (words, right, wrong) => {
  const now = (days: number) => new Date(ago(-days))
  for (const text of [words, `So: ${words}.`, `(${words})`]) {
    expect(isOutdated(text, ago(0), now(right)), text).toBe(false)
    expect(isOutdated(text, ago(0), now(wrong)), text).toBe(true)
  }
  // Within a longer word they say nothing of a time; a quarter takes Turkish endings.
  const longer = / (ago|önce)$/.test(words) ? [] : [`ş${words}`]
  for (const text of words.includes('çeyrek') ? longer : [...longer, `${words}ş`]) {
    expect(isOutdated(text, ago(0), now(wrong)), text).toBe(false)
  }
})

test.each([
  ...['bir kolay önce', 'akyıl önce', 'müsene önce', '2 sides ago'],
  ...[
    'in two weeks',
    'within 3 days',
    'on Fridays',
    'two years',
    'iki günde',
    'son',
    'bu çay',
    'bu yazılım',
    'bu yazıyı',
    'bu ayna',
    'bu aynı',
    'dünyaya',
    'bu haftalık',
    'just 40',
    'weekend',
    'this weekends',
    'every month',
    'çeyrek',
  ],
])('“%s” is right for good', (words) => {
  expect(isOutdated(words, ago(0), new Date(ago(-1000)))).toBe(false)
})

test('a span that says more than one word in between is right for good', () => {
  expect(isOutdated('bu büyük ve yeni çeyrek', ago(0), new Date(ago(-1000)))).toBe(false)
})

test('what was noted in the morning is right in the evening of the same day', () => {
  const [morning, evening] = ['2026-05-20T06:00:00Z', '2026-05-20T20:00:00Z']
  expect(isOutdated('He calls today.', morning, new Date(evening))).toBe(false)
})

test('what has no time is taken as it is', () => {
  expect(isOutdated('We won a prize last year.', undefined, new Date())).toBe(false)
})
