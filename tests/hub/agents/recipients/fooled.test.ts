import { describe, expect, test } from 'vitest'
import { decide } from '../../../../hub/agents/recipients/resolve.ts'
import { tokensOf } from '../../../../hub/agents/recipients/tokens.ts'
import { BLIND, TEAM } from './blind.ts'
import { FOOLED, KNOWN, type Wanted } from './fooled.ts'
import { RELATIONS } from './fooled-relations.ts'

function whom(task: string, known: typeof KNOWN = KNOWN): Wanted {
  const found = decide(tokensOf(task).tokens, { ...known, as: 'recipient', task })
  if (found.kind === 'leads') return found.lead_ids.toSorted()
  if (found.kind === 'filter') return found.filter
  return found.kind === 'unclear' ? '?' : 'nobody'
}

const told = (what: Wanted) => JSON.stringify(what)

describe.each(['en', 'tr'] as const)('tasks that want a wrong lead, %s', (language) => {
  const found = FOOLED[language].map(([task, wanted]) => ({ task, wanted, got: whom(task) }))
  const asks = found.filter(({ wanted, got }) => got === '?' && wanted !== '?')

  test('are forty or more, and get nobody chosen who is not meant', () => {
    expect(found.length).toBeGreaterThanOrEqual(40)
    const wrong = found.filter(({ wanted, got }) => got !== '?' && told(got) !== told(wanted))
    expect(
      wrong.map(({ task, wanted, got }) => `${task}: ${told(got)}, not ${told(wanted)}`),
    ).toEqual([])
  })

  test('that a reader understands are rarely asked about', () => {
    const most = { en: 5, tr: 4 }[language]
    expect(asks.length, asks.map(({ task }) => task).join('\n')).toBeLessThanOrEqual(most)
  })
})

describe.each(['en', 'tr'] as const)('tasks that name a lead in a relation, %s', (language) => {
  const found = RELATIONS[language].map(([task, wanted]) => ({ task, wanted, got: whom(task) }))

  test('choose nobody who only describes somebody else, and everybody whom they are for', () => {
    const traps = found.filter(({ wanted }) => wanted === '?')
    expect(traps.length).toBeGreaterThanOrEqual(20)
    expect(found.length - traps.length).toBeGreaterThanOrEqual(20)
    const wrong = found.filter(({ wanted, got }) => told(got) !== told(wanted))
    expect(
      wrong.map(({ task, wanted, got }) => `${task}: ${told(got)}, not ${told(wanted)}`),
    ).toEqual([])
  })
})

test.each([
  ['write to new leads about the prices', { stage: 'new' }],
  ['new leads get the price list', { stage: 'new' }],
  ['we have new customers, write to mark grant', ['mark']],
] satisfies [string, Wanted][])('%s: small letters make no name of a group', (task, wanted) => {
  expect(whom(task)).toEqual(wanted)
})

test.each([
  ['Write to everyone of Acme about the prices', ['smith1']],
  ['Write to all of Acme', ['smith1']],
  ['Write to the people of Acme', ['smith1']],
  ['Write to the customers of Acme', '?'],
  ['Write to the companies of Acme', '?'],
  ['Write to the firms of Acme', '?'],
] satisfies [string, Wanted][])(
  '%s: those of a firm are not those who buy from it',
  (task, wanted) => {
    expect(whom(task)).toEqual(wanted)
  },
)

test('a tag that nobody has is asked about in the words of the task', () => {
  const task = 'Write to the leads tagged nonsense about the prices'
  const found = decide(tokensOf(task).tokens, { ...KNOWN, as: 'recipient', task })
  expect(found).toMatchObject({
    kind: 'unclear',
    because: { en: expect.stringContaining('leads tagged nonsense') },
  })
})

test.each([
  ['Prepare a note for Claire Dubois; Tom Becker must not get it', ['claire']],
  ['Write an apology to Nowak Transport, Claire Dubois was wrong', ['piotr']],
  ['Write to Tom Becker, Claire Dubois', ['claire', 'tom']],
  ['Thank Ayla Güneş for introducing us to Kemal Usta', ['ayla']],
  ['Mail the two Murats', '?'],
  ['All Turkish leads should hear about the fair', '?'],
  ['Türkiye’deki herkes fuardan haberdar olsun, mail yaz', { country: 'Türkiye' }],
  ['Invite customers who have not answered since May', '?'],
  ['Follow up with everyone who replied last week', '?'],
  ['Mayıstan beri cevap vermeyenlere yaz', '?'],
  ['Geçen hafta cevap verenlere yaz', '?'],
  ['Write to those who have not answered, today', { answered: false }],
] satisfies [string, Wanted][])('%s: nobody gets it of whom it is only said', (task, wanted) => {
  expect(whom(task, TEAM)).toEqual(wanted)
})

describe.each(Object.entries(BLIND))('tasks typed in a hurry, the %s list', (list, tasks) => {
  const found = [...tasks.en, ...tasks.tr].map(([task, wanted]) => {
    const got = whom(task, TEAM)
    return { task, wanted: Array.isArray(wanted) ? wanted.toSorted() : wanted, got }
  })
  const other = found.filter(({ wanted, got }) => told(got) !== told(wanted))

  test('are for nobody who is not meant; the newest leads count as somebody', () => {
    expect(found.length).toBeGreaterThanOrEqual(60)
    const wrong = other.filter(({ got }) => got !== '?')
    expect(wrong.map(({ task, got }) => `${task}: ${told(got)}`)).toEqual([])
  })

  test('are asked about no more often than was measured', () => {
    const most = { FIRST: 1, SECOND: 1, THIRD: 2 }[list] ?? 0
    expect(other.length, other.map(({ task }) => task).join('\n')).toBeLessThanOrEqual(most)
  })
})

test.each([
  ["Write to Mark Grant's landlord", 'mark'],
  ['Umut Yeni’nin rakibine yaz', 'umut'],
])('%s: the answer says that the lead only describes somebody else', (task, id) => {
  const found = decide(tokensOf(task).tokens, { ...KNOWN, as: 'recipient', task })
  expect(found).toMatchObject({ kind: 'unclear', lead_ids: [id] })
  expect(found.kind === 'unclear' && found.because.en).toMatch(/for somebody else/)
})
