import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { compose, makeProject, putFile, reach } from '../support/mission-help.ts'
import { type StubModel, startStubModel, useStub } from '../support/stub-model.ts'

let hub: TestHub
let stub: StubModel
beforeAll(async () => {
  stub = await startStubModel()
  hub = await startHub({ start: true })
  await makeProject(hub)
  await useStub(hub, stub)
  stub.script(() => ({ leads: [] }))
}, 60_000)
afterAll(async () => {
  await hub?.close()
  await stub?.close()
})

const toldBy = async (department: string, task: string, input: Record<string, unknown> = {}) => {
  const mission = await reach(hub, await compose(hub, department, task, input))
  expect(mission.status, mission.reason ?? '').toBe('done')
  return mission.left_out
}

test('a text longer than twelve parts says how many were read', async () => {
  // Eight paragraphs of 1,900 characters are eight parts.
  const text = (count: number) =>
    Array.from({ length: count }, (_, n) => `Part ${n} ${'word '.repeat(378)}`).join('\n')
  expect(await toldBy('research', 'Who is in these notes?', { text: text(12) })).toEqual([])
  expect(await toldBy('research', 'Who is in these notes?', { text: text(14) })).toEqual([
    'pasted text: the first 12 of 14 parts were read. Split the text and add the rest.',
  ])
  // A Turkish task that is read in English.
  expect(await toldBy('research', 'Bu notlarda kimler var?', { text: text(13) })).toEqual([
    'pasted text: the first 12 of 13 parts were read. Split the text and add the rest.',
  ])
})

test('a table longer than 5,000 rows says so, and one of 5,000 does not', async () => {
  // Rows with a mistake are counted and not stored, which is all that this needs.
  const table = (count: number) =>
    ['name,email', ...Array.from({ length: count }, (_, n) => `Person ${n},no address`)].join('\n')
  await putFile(hub, 'leads/whole.csv', table(5000))
  await putFile(hub, 'leads/long.csv', table(5001))
  expect(await toldBy('research', 'import it', { files: ['leads/whole.csv'] })).toEqual([])
  expect(await toldBy('research', 'import it', { files: ['leads/long.csv'] })).toEqual([
    'leads/long.csv: the first 5000 rows were read. Split the table and add the rest.',
  ])
})

test('of a table every column and the note become facts, long values whole as quotations', async () => {
  const names = Array.from({ length: 42 }, (_, n) => `Extra ${n + 1}`)
  const long = `${'truck '.repeat(500)}end`
  const row = ['Ayşe Kaya', 'ayse@columns.example', 'Met at the fair', long, ...names.slice(1)]
  await putFile(hub, 'leads/wide.csv', [['name', 'email', 'note', ...names], row].join('\n'))
  expect(await toldBy('research', 'import it', { files: ['leads/wide.csv'] })).toEqual([
    expect.stringMatching(
      /wide\.csv: these columns did not become facts.*: Extra 40, Extra 41, Extra 42\./,
    ),
  ])
  const facts = await hub.query<{ fact: string; quote: string }>(
    `select e.fact, e.quote from hub.evidence e join hub.leads l on l.id = e.lead_id
     where l.email = 'ayse@columns.example'`,
  )
  const quoteOf = (start: string) => facts.find(({ fact }) => fact.startsWith(start))?.quote
  expect(quoteOf('note: Met at the fair')).toBe('Met at the fair')
  expect(quoteOf('Extra 1: truck')).toBe(long)
  expect(quoteOf('Extra 39:')).toBe('Extra 39')
  expect(quoteOf('Extra 40:')).toBeUndefined()
  expect(facts.some(({ quote }) => quote.includes('Extra 42: Extra 42'))).toBe(true)
})

test('a part of a long text fits into the smallest context, beside the longest prompt', async () => {
  const data = { name: 'Ayşe Kaya', email: 'ayse@part.example', company: 'Kaya Nakliyat' }
  await hub.call('POST', 'lead/quick_add', { slug: 'rota', data })
  const sentence = { text: 'Shall we talk next week?', cites: [] }
  stub.script(({ name }) =>
    name.startsWith('summary')
      ? { points: [] }
      : { subject: 'A short question', sentences: [sentence, sentence] },
  )
  const text = 'nakliyat şirketi için ölçülen değerler '.repeat(100)
  const told = await toldBy('marketing', 'Write a mail to Ayşe Kaya of Kaya Nakliyat', { text })
  expect(told).toEqual([expect.stringMatching(/^pasted text: summarised from 2 parts; /)])
})

test('what does not fit into the context of the model is named, in the language of the reader', async () => {
  const document = {
    title: 'Offer',
    need: 'n'.repeat(20),
    solution: 's'.repeat(20),
    scope: ['one', 'two'],
  }
  const points = [{ text: 'Says a', quote: 'a a a a a a' }]
  stub.script(({ name }) =>
    name.startsWith('summary') ? { points } : { ...document, prices: [], next_steps: ['call'] },
  )
  const text = 'a '.repeat(2000)
  const files = ['docs/one.txt', 'docs/two.txt']
  for (const file of files) await putFile(hub, file, 'b '.repeat(2000))
  const told = await toldBy('sales', 'write a proposal', { text, files })
  expect(told).toEqual([
    'docs/one.txt: summarised from 2 parts; what it claims counts only by the text itself.',
    'docs/two.txt: summarised from 2 parts; what it claims counts only by the text itself.',
    'pasted text: summarised from 2 parts; what it claims counts only by the text itself.',
  ])
  const shown = stub.asked.find(({ name }) => name === 'proposal')?.task ?? ''
  expect(shown).toContain('(part 1) Says a — "a a a a a a"')
  expect(shown).not.toContain('b b b b')
  await putFile(hub, 'CONTEXT.md', `# Rota\n\n${'We plan routes. '.repeat(500)}`)
  const long = await toldBy('sales', `write a proposal ${'and think well '.repeat(300)}`)
  expect(long).toEqual([
    expect.stringMatching(/^CONTEXT\.md: the first 6000 of \d+ characters were read\.$/),
    expect.stringMatching(/^The task: the first 4000 of \d+ characters were read\.$/),
  ])
})
