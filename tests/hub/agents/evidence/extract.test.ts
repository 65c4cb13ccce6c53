import { describe, expect, test } from 'vitest'
import type { AgentContext } from '../../../../hub/agents/agent.ts'
import { extractFrom, sumOf } from '../../../../hub/agents/evidence/extract.ts'
import type { Words } from '../../../../hub/i18n/words.ts'
import type { NewLead } from '../../../../hub/leads/lead.ts'
import { sqlOn } from '../../../../shared/sql.ts'

type Said = Partial<
  Record<'name' | 'company' | 'email' | 'title' | 'website' | 'country' | 'quote', string | null>
>
const NOBODY = {
  name: null,
  company: null,
  email: null,
  title: null,
  website: null,
  country: null,
  quote: '',
}

/** Extracts leads from a text, with a model that answers this and a database that knows an address. */
async function extracted(
  text: string,
  answers: Record<string, Said[] | { column: string; field: string }[]> = {},
) {
  const done = {
    asked: [] as { name: string; facts: { label: string; text: string }[] }[],
    steps: [] as string[],
    leads: [] as NewLead[],
    facts: [] as { fact: string; quote: string; source: string }[],
    leftOut: [] as string[],
    expected: [] as number[],
  }
  const sql = sqlOn({
    query: async (statement, values = []) => {
      const given = () =>
        JSON.parse(String(values.find((value) => /^\[/.test(String(value))) ?? '[]'))
      if (statement.includes('with asked')) {
        return {
          rows: given().map(({ at, ...of }: { at: number; email: string; name: string }) => ({
            at,
            key: of.email ?? `${of.name}|${at}`,
            lead_id: of.email === 'known@demir.example' ? 'known' : null,
          })),
        }
      }
      if (statement.includes('insert into hub.leads')) {
        done.leads.push(...given())
        return { rows: given() }
      }
      if (statement.includes('insert into hub.evidence')) done.facts.push(...given())
      return { rows: [] }
    },
  })
  const context = {
    language: 'en',
    project: { id: 'p' },
    mission: { id: 'm' },
    leaveOut: ({ en }: Words) => void done.leftOut.push(en),
    expect: (steps: number) => void done.expected.push(steps),
    complete: async (
      name: string,
      call: {
        schema: { parse: (value: unknown) => unknown }
        facts: { label: string; text: string }[]
      },
    ) => {
      done.asked.push({ name, facts: call.facts })
      const answer = answers[name] ?? []
      return name.startsWith('columns')
        ? call.schema.parse({ columns: answer })
        : call.schema.parse({ leads: answer.map((one) => ({ ...NOBODY, ...one })) })
    },
    step: (name: string, work: (on: typeof sql) => unknown) => {
      done.steps.push(name)
      return work(sql)
    },
  } as unknown as AgentContext // safe: all that it uses of its mission
  const tally = await extractFrom(context, { label: 'fair.csv', text }, '1')
  return { ...done, tally }
}

describe('a table', () => {
  test('gives a lead for each row, and counts those that are known or cannot be used', async () => {
    const done = await extracted(
      'Company,E-mail,Note,Fleet\nDemir,known@demir.example,Call them,40\nKaya,info@kaya.example,,\nNobody,no address,,',
    )
    expect(done.tally).toEqual({
      found: 1,
      known: 1,
      skipped: 1,
      ids: ['known', expect.any(String)],
    })
    expect(done.leads).toMatchObject([
      { company: 'Kaya', email: 'info@kaya.example', source: 'fair.csv:3' },
    ])
    // A note is a fact as any other column.
    expect(done.facts.map(({ fact, source }) => [fact, source])).toEqual([
      ['Company: Demir; E-mail: known@demir.example', 'fair.csv:2'],
      ['Note: Call them', 'fair.csv:2'],
      ['Fleet: 40', 'fair.csv:2'],
      ['Company: Kaya; E-mail: info@kaya.example', 'fair.csv:3'],
    ])
    expect(done.asked).toEqual([])
  })

  test('of many rows is stored a hundred at a time', async () => {
    const row = (n: number) => `C${n},c${n}@example.com\n`
    const of = (rows: number) =>
      extracted(`Company,E-mail\n${Array.from({ length: rows }, (_, n) => row(n)).join('')}`)
    const small = await of(201)
    expect(small.steps).toEqual(['rows 1.1', 'rows 1.101', 'rows 1.201'])
    expect(small.tally).toMatchObject({ found: 201, known: 0, skipped: 0 })
    expect(small.leftOut).toEqual([])
  })

  test('that no heading explains is explained by the model, by numbers', async () => {
    const cells = ['Demir Lojistik', 'Ayşe', '7']
    const text = `A ${'x'.repeat(60)},B,C\n${cells.join(',')}\nKaya,Can,8\nDeniz,Ece,9\nArı,Efe,1`
    const done = await extracted(text, {
      'columns 1': [
        { column: '1', field: 'company' },
        { column: '2', field: 'name' },
        { column: '2', field: 'company' },
      ],
    })
    expect(done.asked).toEqual([
      {
        name: 'columns 1',
        facts: [
          {
            label: 'first rows',
            text: `1 A ${'x'.repeat(37)}… | 2 B | 3 C\nDemir Lojistik | Ayşe | 7\nKaya | Can | 8\nDeniz | Ece | 9`,
          },
        ],
      },
    ])
    expect(done.leads.map(({ company, name }) => [company, name])).toEqual([
      ['Demir Lojistik', 'Ayşe'],
      ['Kaya', 'Can'],
      ['Deniz', 'Ece'],
      ['Arı', 'Efe'],
    ])
  })

  test('is explained by its first twenty columns', async () => {
    const wide = Array.from({ length: 21 }, (_, n) => `F${n}`)
    const { asked } = await extracted(`${wide.join(',')}\n${'7,'.repeat(20)}7`)
    expect(asked[0]?.facts[0]?.text.split('\n')[0]).toMatch(/ \| 20 F19$/)
  })

  test('that names nobody is read as a text', async () => {
    const done = await extracted('A,B\n1,2\n3,4', { 'columns 1': [{ column: '1', field: 'none' }] })
    expect(done.asked.map(({ name }) => name)).toEqual(['columns 1', 'leads 1.1'])
    expect(done.steps).toEqual(['store 1.1'])
  })

  test('with too many columns keeps forty of them, and says which it leaves out', async () => {
    const wide = Array.from({ length: 42 }, (_, n) => `F${n}`)
    const done = await extracted(`Company,${wide.join(',')}\nDemir,${wide.join(',')}`)
    expect(done.facts).toHaveLength(41)
    expect(done.leftOut).toEqual([expect.stringMatching(/fair\.csv.*40.*F40, F41/)])
  })
})

describe('a text', () => {
  test('gives what it says of somebody, and nothing that it does not say', async () => {
    const done = await extracted(
      'We met Ayşe Yılmaz, CEO of Demir in Türkiye.\nSee HTTPS://demir.example or write to AYSE@demir.example today.',
      {
        'leads 1.1': [
          {
            name: ' Ayşe Yılmaz ',
            company: 'Demir',
            email: 'ayse@demir.example',
            title: 'Owner',
            website: ' https://demir.example ',
            country: 'Türkiye',
            quote: 'We met  Ayşe Yılmaz, CEO',
          },
          { name: 'John Invented', quote: 'nothing of this' },
          { company: 'Demir', email: 'ayse@else.example', website: 'https://else.example' },
        ],
      },
    )
    expect(done.leads).toMatchObject([
      {
        name: 'Ayşe Yılmaz',
        company: 'Demir',
        email: 'ayse@demir.example',
        title: null,
        website: 'https://demir.example',
        country: 'Türkiye',
        source: 'fair.csv, part 1',
      },
      { company: 'Demir', email: null, website: null },
    ])
    expect(done.facts).toEqual([
      {
        lead_id: expect.any(String),
        fact: 'We met Ayşe Yılmaz, CEO',
        quote: 'We met Ayşe Yılmaz, CEO',
        source: 'fair.csv, part 1',
      },
      // Who has no quote is quoted by the first line with the name.
      {
        lead_id: expect.any(String),
        fact: 'We met Ayşe Yılmaz, CEO of Demir in Türkiye.',
        quote: 'We met Ayşe Yılmaz, CEO of Demir in Türkiye.',
        source: 'fair.csv, part 1',
      },
    ])
    expect(done.tally).toMatchObject({ found: 2, skipped: 1 })
    expect(done.expected).toEqual([6])
  })

  test.each<[text: string, lead: Said, isSaid: boolean]>([
    ['Write to ayse@demir.com.', { email: 'ayse@demir.com' }, true],
    ['ayse@demir.com', { email: ' AYSE@demir.com ' }, true],
    ['mailto:ayse@demir.com?subject=x', { email: 'ayse@demir.com' }, true],
    ['Write to ayse@demir.com.', { email: 'ayse@demir.co' }, false],
    ['Write to ayse@demir.com.tr!', { email: 'ayse@demir.com' }, false],
    ['Write to ayse@demir.com.', { email: 'se@demir.com' }, false],
    ['Write to ece.ayse@demir.com.', { email: 'ayse@demir.com' }, false],
    ['Write to ece-ayse@demir.com.', { email: 'ayse@demir.com' }, false],
    ['ayse@demir.com-x.org', { email: 'ayse@demir.com' }, false],
    ['xayse@demir.com and ayse@demir.com', { email: 'ayse@demir.com' }, true],
    ['Nobody.', { email: ' ' }, false],
    ['See www.demir.com/tr.', { website: 'demir.com' }, true],
    ['See http://demir.com:', { website: 'http://demir.com' }, true],
    ['See demir.com.tr.', { website: 'demir.com' }, false],
    ['See demir.com.', { website: 'demir.co' }, false],
    ['See aldemir.com.', { website: 'demir.com' }, false],
    ['See al-demir.com.', { website: 'demir.com' }, false],
  ])('“%s” has the whole address %j: %s', async (text, lead, isSaid) => {
    const line = `Ayşe Yılmaz of Demir: ${text}`
    const { leads } = await extracted(line, { 'leads 1.1': [{ name: 'Ayşe Yılmaz', ...lead }] })
    const [found] = leads
    expect(found?.name).toBe('Ayşe Yılmaz')
    const plain = (address?: string | null) =>
      address
        ?.trim()
        .toLowerCase()
        .replace(/^https?:\/\//, '')
    const given = plain(lead.email ?? lead.website)
    expect(plain(lead.email ? found?.email : found?.website) === given).toBe(isSaid)
  })

  test('that names nobody in one line, and in no quote, gives no lead', async () => {
    const done = await extracted('We met Ayşe\nYılmaz.', { 'leads 1.1': [{ name: 'Ayşe Yılmaz' }] })
    expect(done.tally).toEqual({ found: 0, known: 0, skipped: 1, ids: [] })
  })

  test('loses no address that the model has overlooked, and gives each once', async () => {
    const done = await extracted(
      'Write to info@kaya.example, Sales@deniz.example\nor info@kaya.example.',
      { 'leads 1.1': [{ company: 'Deniz', email: 'sales@deniz.example' }] },
    )
    expect(done.leads.map(({ email }) => email)).toEqual([
      'sales@deniz.example',
      'info@kaya.example',
    ])
    expect(done.facts[1]).toMatchObject({
      fact: 'Write to info@kaya.example, Sales@deniz.example',
    })
  })

  test.each<[line: string, leads: Said[], languages: (string | null)[]]>([
    ['Olga speaks Polish.', [{ name: 'Olga' }], ['pl']],
    ['OLGA speaks Polish.', [{ name: 'Olga' }], ['pl']],
    ['Olga came. She speaks Polish.', [{ name: 'Olga' }], [null]],
    ['Olga came! Olga speaks Polish.', [{ name: 'Olga' }], ['pl']],
    ['We speak Polish; Olga came.', [{ name: 'Olga' }], [null]],
    ['Olga speaks Polish; Hans speaks German.', [{ name: 'Olga' }, { name: 'Hans' }], ['pl', 'de']],
    ['Olga and Hans speak Polish.', [{ name: 'Olga' }, { name: 'Hans' }], [null, null]],
    ['Olga of Demir speaks Polish.', [{ name: 'Olga', company: 'Demir' }], ['pl']],
    ['Demir speaks Polish.', [{ company: 'Demir' }], ['pl']],
    ['Olga of Demir came.  Olga speaks Polish.', [{ name: 'Olga', company: 'Demir' }], ['pl']],
    ['Olga of Demir speaks Polish.', [{ name: 'Olga' }, { company: 'Demir' }], [null, null]],
    ['olga@demir.example speaks Polish.', [], ['pl']],
  ])('“%s” says in which language somebody is written to', async (line, leads, languages) => {
    const done = await extracted(`Notes of the fair.\n${line}`, { 'leads 1.1': leads })
    expect(done.leads.map(({ language }) => language ?? null)).toEqual(languages)
  })

  test('is read in parts of 2,000 characters, at the ends of lines where it can', async () => {
    const line = (letter: string, length: number) => letter.repeat(length)
    const shown = async (text: string) =>
      (await extracted(text)).asked.map(({ facts }) => facts[0]?.text)
    expect(await shown('One two three.\n\nFour.')).toEqual(['One two three.\n\nFour.\n'])
    expect(await shown(`${line('a', 1500)}\n${line('b', 499)}`)).toHaveLength(1)
    expect(await shown(`${line('a', 1500)}\n${line('b', 500)}`)).toEqual([
      `${line('a', 1500)}\n`,
      `${line('b', 500)}\n`,
    ])
    expect(await shown(line('a', 2500))).toEqual([`${line('a', 2000)}\n`, `${line('a', 500)}\n`])
    expect(await shown('\n \n')).toEqual([])
    expect(await shown(`${line(' ', 1900)}\n${line('a', 1500)}`)).toEqual([`${line('a', 1500)}\n`])
  })

  test('of more than twelve parts is read to the twelfth', async () => {
    const parts = (n: number) => Array.from({ length: n }, () => 'a'.repeat(1500)).join('\n')
    const whole = await extracted(parts(12))
    expect(whole.asked.map(({ name }) => name).at(-1)).toBe('leads 1.12')
    expect(whole.leftOut).toEqual([])
    expect(whole.expected).toEqual([28])
    const more = await extracted(parts(14))
    expect(more.asked).toHaveLength(12)
    expect(more.asked[11]?.facts[0]?.label).toBe('fair.csv, part 12')
    expect(more.leftOut).toEqual([expect.stringMatching(/^fair\.csv: .*12 of 14/)])
  })
})

test('the tallies of several texts are one', () => {
  const one = { found: 1, known: 2, skipped: 3, ids: ['a'] }
  expect(sumOf([one, { found: 10, known: 20, skipped: 30, ids: ['b'] }])).toEqual({
    found: 11,
    known: 22,
    skipped: 33,
    ids: ['a', 'b'],
  })
  expect(sumOf([])).toEqual({ found: 0, known: 0, skipped: 0, ids: [] })
})
