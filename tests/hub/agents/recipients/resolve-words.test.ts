import { describe, expect, test } from 'vitest'
import { decide, withChoices } from '../../../../hub/agents/recipients/resolve.ts'
import { tokensOf } from '../../../../hub/agents/recipients/tokens.ts'

const person = (id: string, name: string, company: string | null = null) => ({
  id,
  name,
  company,
  email: null,
})
const leads = [
  person('ali', 'Ali Kaya', 'Kaya Nakliyat'),
  person('hans', 'Hans Müller', 'Müller Logistik'),
]
const countries = ['Germany', 'Saudi Arabia', '']

const found = (
  task: string,
  { as = 'recipient' as 'recipient' | 'subject', people = leads } = {},
) => decide(tokensOf(task).tokens, { as, leads: people, tags: ['VIP'], countries, task })
const reason = (task: string) => {
  const resolved = found(task)
  return resolved.kind === 'nobody' ? '' : resolved.because.en
}

describe('the reason', () => {
  test.each([
    ['Hans’a ve Ali’ye yaz', 'The task names Hans, Ali.'],
    ['Write to Hans Müller', 'The task names Hans Müller.'],
    ['Write to the new leads tagged VIP in Germany', 'The task says “new leads, VIP, Germany”.'],
    ['Write to everybody and all customers', 'The task says “everybody, all customers”.'],
    ['Write to the new leads and the new customers', 'The task says “new leads”.'],
    ['a mail for #vip', 'The task says “#VIP”.'],
    ['a mail for #yok', 'No lead fits “#yok”.'],
    ['Write to Hans’ boss', expect.stringContaining('somebody else, whom it describes by Hans')],
    ['Write to us about Ali Kaya', expect.stringContaining('is about Ali Kaya')],
    ['Write to all leads in Atlantis', 'No lead fits “Atlantis”.'],
  ])('of “%s”', (task, because) => expect(reason(task)).toEqual(because))

  test('lists who may be meant, if anybody may', () => {
    const because = { en: 'Which?', tr: 'Hangisi?' }
    expect(withChoices(because, [])).toBe(because)
    expect(withChoices(because, ['Ali', 'Hans']).en).toBe('Which? Possible: Ali; Hans.')
  })
})

test('nobody is nobody, without a reason', () => {
  expect(found('Write something nice')).toEqual({ kind: 'nobody' })
})

test('at most ten choices are offered, and no task is compared with more than 2,000 leads', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => person(`${at}`, 'Ali Kaya'))
  const asked = found('Write to Ali Kaya', { people: many(12) })
  expect(asked).toMatchObject({ kind: 'unclear', lead_ids: many(10).map(({ id }) => id) })
  const all = found('Write to all leads', { people: many(2000) })
  expect(all).toMatchObject({ kind: 'filter', filter: {} })
  const tooMany = found('Write to all leads', { people: many(2001) })
  expect(tooMany).toMatchObject({ kind: 'unclear', lead_ids: [] })
})

test.each([
  ['Write to all leads in Saudi Arabia', 'Saudi Arabia'],
  ['Saudi Arabia’daki müşterilere yaz', 'Saudi Arabia'],
  ['Write to all leads in Saudi Germany', undefined],
  ['Write to all leads in Arabia', undefined],
])('%s: a country counts with all its words', (task, country) => {
  const resolved = found(task)
  const filter = resolved.kind === 'filter' ? resolved.filter : {}
  expect('country' in filter ? filter.country : undefined).toBe(country)
})

test.each([
  ['Ask Ali Kaya about Hans Müller', ['ali', 'hans']],
  ['Look into Ali Kaya and his boss', ['ali']],
  ['Look into Ali Kaya and Mert', ['ali']],
  ['Look into everybody but Ali Kaya', ['ali']],
  ['Today Ali Kaya said Hans Müller was late, find out why', ['ali', 'hans']],
  ['Look into the boss of Ali Kaya', ['ali']],
])('%s: whom a task is about needs not get anything', (task, lead_ids) => {
  expect(found(task, { as: 'subject' })).toMatchObject({ kind: 'leads', lead_ids })
})

test('whom a task is about may be people whom nobody knows', () => {
  expect(found('Find people from the fair', { as: 'subject' })).toEqual({ kind: 'nobody' })
  expect(found('Find out about Mert for Mert’e', { as: 'subject' })).toEqual({ kind: 'nobody' })
  const all = found('Look at all leads in Atlantis', { as: 'subject' })
  expect(all).toMatchObject({ kind: 'nobody' })
})
