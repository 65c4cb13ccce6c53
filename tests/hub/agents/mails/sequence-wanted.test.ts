import { expect, test } from 'vitest'
import { sequenceWanted } from '../../../../hub/agents/mails/sequence-wanted.ts'

test.each([
  ['Plan a sequence of three mails for the German leads', 3, null],
  ['Write a follow-up sequence for the leads from the fair', 3, null],
  ['Prepare an email sequence with two follow-ups for new leads in Italy', 3, null],
  ['Prepare an email sequence with 4 follow-ups for new leads', 5, null],
  ['Create a drip campaign of 4 mails for the customers', 4, null],
  ['Set up a cadence of five emails, every 4 days, for leads in Ankara', 5, 4],
  ['A series of 2 messages to our customers, 10 days apart', 2, 10],
  ['a weekly mail sequence for everybody', 3, 7],
  ['Write a sequence of one mail', 2, null],
  ['Plan a sequence of 8 mails', 8, null],
  ['Plan a sequence of 0 mails', 3, null],
  ['Plan a sequence of a mail', 3, null],
  ['Plan a sequence of long mails', 3, null],
  ['Plan a sequence of 4 mails, every 90 days', 4, 90],
  ['Plan a sequence of 4 mails, every 91 days', 4, null],
  ['Plan a sequence of 4 mails, every 0 days', 4, null],
  ['Plan a sequence of 4 mails, every few days', 4, null],
  ['Plan a sequence of 4 mails, each three days', 4, 3],
  ['Plan a sequence of 4 mails, 2 days between', 4, 2],
  ['Plan an outreach cadence, every week', 3, 7],
  ['propose a sequence of 4-mails', 4, null],
] as const)('%s: %i mails', (task, mails, every) => {
  expect(sequenceWanted(task, 'en')).toEqual({ mails, every, asked: null })
})

test.each([
  ['Almanya’daki adaylar için üç e-postalık bir takip dizisi hazırla', 3, null],
  ['Fuardan gelen adaylara 4 günde bir giden bir e-posta dizisi kur', 3, 4],
  ['Yeni adaylar için mail dizisi planla', 3, null],
  ['Müşterilerimize beş e-postalık bir seri yaz, haftada bir', 5, 7],
  ['iki hatırlatmalı bir takip dizisi', 3, null],
  ['4 e-posta’lık dizi hazırla', 4, null],
  ["5 mail'lik bir seri, 3 günde bir", 5, 3],
  ['bir dizi mail yaz, 2 gün arayla', 3, 2],
  ['takip mesaj dizisi, 6 gün ara ile', 3, 6],
  ['e-posta dizisi, haftalık', 3, 7],
] as const)('%s: %i e-posta', (task, mails, every) => {
  expect(sequenceWanted(task, 'tr')).toEqual({ mails, every, asked: null })
})

test('more than a sequence can have is said', () => {
  const wanted = sequenceWanted('Plan a sequence of 12 mails for everybody', 'en')
  expect(wanted).toEqual({ mails: 8, asked: 12, every: null })
})

test.each([
  'Write a mail to Sequence Logistics',
  'Write to Ayşe about our sequence service',
  'Draw a sequence diagram of the login',
  'Create a sequence diagram',
  'Write a follow-up mail to Ayşe',
  'Write three mails to the newest leads',
  'Dizi Film’e e-posta yaz',
  'Dizi Mobilya için teklif hazırla',
  'Posta Dizini firmasına mail yaz',
  'Write an offer for Drip Coffee',
])('"%s" asks for no sequence', (task) => {
  expect(sequenceWanted(task, 'en')).toBeUndefined()
  expect(sequenceWanted(task, 'tr')).toBeUndefined()
})
