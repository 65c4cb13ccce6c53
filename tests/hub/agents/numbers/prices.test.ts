import { describe, expect, test } from 'vitest'
import { runAlone, type Scene } from '../run-alone.ts'

const run = (agent: 'finance' | 'sales' | 'ceo', task: string, more: Partial<Scene> = {}) =>
  runAlone({ agent, task: { en: task, tr: task }, ...more }, 'en')

describe('a table of costs', () => {
  const SHEET = {
    title: 'Invoice',
    party: null,
    currency: 'EUR',
    items: [{ description: 'Trucks', quantity: '3', unit: 'piece', unit_price: '100' }],
    tax_percent: null,
    discount_percent: null,
    open_points: [],
  }
  const sheet = (task: string, given: object, more: Partial<Scene> = {}, then: object = SHEET) =>
    run('finance', task, { ...more, answers: { items: [{ ...SHEET, ...given }, then] } })

  test('names the party that the task or a given text names, and no other', async () => {
    const task = 'invoice for Demir: 3 trucks at 100 EUR'
    expect(await sheet(task, { party: 'Demir' })).toContain(': Demir\n')
    expect(await sheet(task, { party: 'Kaya' })).not.toContain('Kaya')
    const text = { input: { text: 'Kaya pays it.' } }
    expect(await sheet(task, { party: 'Kaya' }, text)).toContain(': Kaya\n')
    expect(await sheet(task, { party: null })).not.toMatch(/^ {2}For: /m)
  })

  test.each([
    ['the task', '3 trucks at 100', {}],
    ['the brief', '3 trucks', { brief: 'A truck is 100 EUR.' }],
    ['a given text', '3 trucks', { input: { text: '100 EUR each' } }],
    ['two texts, each by itself', 'for 3', { brief: '100 EUR each' }],
  ])('knows the numbers of %s', async (_, task, more) => {
    const done = await sheet(`invoice: ${task}`, {}, more)
    expect(done).not.toContain('objects')
    expect(done).toMatch(/300/)
  })

  test('takes no number that nobody has written, and names five of them', async () => {
    const items = ['7', '8', '9', '11', '12', '13'].map((unit_price) => ({
      ...SHEET.items[0],
      unit_price,
    }))
    const done = await sheet('invoice: 3 trucks at 100', { items })
    expect(done).toMatch(/^objects: .*7, 8, 9, 11, 12\b/m)
    expect(done).not.toMatch(/^objects: .*13/m)
    // One thing needs no number of it.
    const one = [{ ...SHEET.items[0], quantity: '1' }]
    expect(await sheet('invoice: trucks at 100', { items: one })).not.toContain('objects')
    const words = [{ ...SHEET.items[0], quantity: 'üç' }]
    expect(await sheet('fatura: üç kamyon, 100', { items: words })).not.toContain('objects')
  })
})

test.each<['sales' | 'ceo', task: string, step: string]>([
  ['sales', 'a proposal for Demir', 'proposal'],
  ['sales', 'quote for Demir', 'proposal'],
  ['sales', 'an offer for Demir', 'proposal'],
  ['sales', 'Demir için teklif', 'proposal'],
  ['sales', 'a counteroffer call', 'script'],
  ['sales', 'what to say on a call', 'script'],
  ['ceo', 'OKRs for the quarter', 'objectives'],
  ['ceo', 'our goals', 'objectives'],
  ['ceo', 'the key results', 'objectives'],
  ['ceo', 'gelecek yılın hedefleri', 'objectives'],
  ['ceo', 'a turnkey strategy', 'outline'],
])('%s: “%s” asks for %s', async (agent, task, step) => {
  const names: string[] = []
  await run(agent, task, {
    rows: [[/leads_total/, [{}]]],
    more: {
      complete: async (name) => {
        names.push(name)
        throw new Error('enough')
      },
    },
  }).catch(() => {})
  expect(names).toEqual([step])
})

test('a price of a proposal was given: in the task, the brief or a text, each number of it', async () => {
  const proposal = (price: string) => ({
    title: 'Proposal',
    need: 'They plan routes by hand.',
    solution: 'A planner for routes.',
    scope: ['40 licenses'],
    prices: [{ item: 'License', price }],
    next_steps: ['A call'],
  })
  const priced = (task: string, price: string, more: Partial<Scene> = {}) =>
    run('sales', task, { ...more, answers: { proposal: proposal(price) } })
  expect(await priced('proposal at 49 EUR', '49 EUR')).toMatch(/\| License \| 49 EUR \|/)
  expect(await priced('proposal', '49 EUR')).not.toMatch(/\| License \| 49 EUR \|/)
  expect(await priced('proposal at 49 EUR', '49 EUR for 12')).not.toMatch(/\| 49 EUR for 12 \|/)
  const given = { input: { text: '49 EUR' } }
  expect(await priced('proposal', '49 EUR', given)).toMatch(/\| License \| 49 EUR \|/)
  expect(await priced('proposal for 4', '9 EUR', { brief: '9 EUR' })).toMatch(/\| 9 EUR \|/)
})
