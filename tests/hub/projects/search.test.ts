import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageOf } from '../../../hub/api/leads/lead-filter.ts'
import type { Sql } from '../../../shared/sql.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
beforeAll(async () => {
  hub = await startLicensedHub(['demir', 'baltic'])
})
afterAll(() => hub.close())

type Result = { kind: string; title: string; project: string; snippet: string; score: number }
const find = async (q: string, more = ''): Promise<Result[]> => {
  const response = await hub.call('GET', `search?q=${encodeURIComponent(q)}${more}`)
  expect(response.status).toBe(200)
  return (await response.json()).results
}
const titles = async (q: string, more = '') => (await find(q, more)).map(({ title }) => title)
const add = async (data: object, slug = 'demir') => {
  const made = await hub.call('POST', 'lead/quick_add', { slug, data })
  expect(made.status).toBe(201)
  return (await made.json()).lead
}

describe('letters fold', () => {
  beforeAll(async () => {
    await add({ name: 'Işık Lojistik', country: 'İSTANBUL' })
    await add({ name: 'Über Spedition', company: 'Straße GmbH' })
    await add({ name: 'Москва Карго' })
    await add({ name: 'i\u0307brahim s\u0327en' })
  })

  test.each([
    'İSTANBUL',
    'ıstanbul',
    'istanbul',
    'ISTANBUL',
    'Işık',
    'ISIK',
    'işik',
    'ışık',
    'isik',
  ])('%s finds Işık Lojistik of İSTANBUL', async (q) => {
    expect(await titles(q)).toEqual(['Işık Lojistik'])
  })

  test.each([
    ['uber', 'Über Spedition'],
    ['STRASSE', 'Über Spedition'],
    ['москва', 'Москва Карго'],
    ['İbrahim Şen', 'i\u0307brahim s\u0327en'],
    ['ibrahim sen', 'i\u0307brahim s\u0327en'],
  ])('%s finds %s', async (q, title) => {
    expect(await titles(q)).toEqual([title])
  })

  test('in the database as they do in the program that makes the snippets', async () => {
    const { fold } = await import('../../../shared/words/fold.ts')
    for (const text of [
      'İIıi',
      'ŞşĞğÜüÖöÇç',
      'ß Æ Ø Đ Ł',
      'Ð ð Ħ ħ Œ œ Þ þ',
      'ÀÉîõ',
      'МОСКВА',
      'i\u0307s\u0327',
    ]) {
      const [row] = await hub.query<{ folded: string }>('select private.fold($1) as folded', [text])
      expect([text, row?.folded]).toEqual([text, fold(text)])
    }
  })
})

describe('what is found', () => {
  test('words in any order, the beginning of a word, the middle of one, an address', async () => {
    await add({ name: 'Ada Lovelace', company: 'Analytical Engines', email: 'ada@engines.example' })
    for (const q of ['lovelace ada', 'analyt', 'nalytic', 'ada@engines', 'engines.example']) {
      expect([q, await titles(q)]).toEqual([q, ['Ada Lovelace']])
    }
    expect(await titles('lovelase')).toEqual(['Ada Lovelace'])
    expect(await titles('ada babbage')).toEqual([])
    expect(await titles('%_%')).toEqual([])
    expect(await titles("' & | ! :* <->")).toEqual([])
  })

  test('a lead by its phone number, however it is written there or here', async () => {
    await add({ name: 'Rings', phone: '+90 (532) 123-45-67' })
    await add({ name: 'Rings elsewhere', phone: '0532 123 45 67' }, 'baltic')
    const inDemir = '&project=demir'
    for (const q of ['0532 123 45 67', '+905321234567', '532.123', '1234567']) {
      expect([q, await titles(q, inDemir)]).toEqual([q, ['Rings']])
    }
    expect((await find('0 532 123 45 67')).map(({ title }) => title).toSorted()).toEqual([
      'Rings',
      'Rings elsewhere',
    ])
    expect((await find('5321234567', inDemir))[0]?.snippet).toContain('+90 (532) 123-45-67')
    expect(await titles('0532 999 99 99')).toEqual([])
  })

  test('a lead by its note, a draft by its text, a mission by a document of it, a project', async () => {
    const lead = await add({ name: 'Quiet One' })
    await hub.call('POST', 'lead/note', { lead_id: lead.id, text: 'Wants refrigerated containers' })
    await hub.query(
      `insert into hub.drafts (project_id, audience, subject, text)
       values ($1, '{"kind": "list", "filter": {}}', 'Autumn', 'About our zeppelin service')`,
      [hub.ids.baltic],
    )
    await hub.query(
      `insert into hub.missions (project_id, department, task, result)
       values ($1, 'docs', 'Write it', '{"documents": [{"path": "docs/a.md", "title": "Onboarding guide"}]}')`,
      [hub.ids.demir],
    )
    expect(await find('refrigerated')).toMatchObject([{ kind: 'lead', title: 'Quiet One' }])
    expect((await find('refrigerated'))[0]?.snippet).toContain('refrigerated')
    expect(await find('zeppelin')).toMatchObject([
      { kind: 'draft', title: 'Autumn', project: 'baltic' },
    ])
    expect(await find('onboarding')).toMatchObject([{ kind: 'mission', title: 'Write it' }])
    expect((await find('baltic'))[0]).toMatchObject({ kind: 'project', title: 'Baltic' })
  })

  test('only of the project asked for; the better comes first; no more than asked for', async () => {
    await add({ name: 'Zebra' }, 'demir')
    await add({ name: 'Zebra Trading House of the North' }, 'baltic')
    expect(await titles('zebra')).toEqual(['Zebra', 'Zebra Trading House of the North'])
    expect(await titles('zebra', '&project=baltic')).toEqual(['Zebra Trading House of the North'])
    expect(await titles('zebra', '&limit=1')).toEqual(['Zebra'])
    expect(await titles('zebra', '&kind=draft')).toEqual([])
    const [first, second] = await find('zebra')
    expect(first?.score).toBeGreaterThan(second?.score ?? 1)
  })

  test('a wrong question is refused', async () => {
    for (const [query, status] of [
      ['', 400],
      ['q=', 400],
      ['q=a&x=1', 400],
      ['q=a&project=nobody', 404],
      ['q=a&limit=0', 400],
    ] as const) {
      expect([query, (await hub.call('GET', `search?${query}`)).status]).toEqual([query, status])
    }
    expect((await hub.call('GET', 'search?q=a%00b')).status).toBe(200)
  })
})

describe('with 25,000 leads', () => {
  beforeAll(async () => {
    // Filling them row by row takes ten times as long.
    const indexes = await hub.query<{ name: string; definition: string }>(
      `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
       from pg_index where indexrelid in ('hub.leads_words'::regclass, 'hub.leads_parts'::regclass)`,
    )
    for (const { name } of indexes) await hub.query(`drop index ${name}`)
    await hub.query(
      `insert into hub.leads (project_id, name, company, email)
       select $1, 'Person ' || n, 'Company ' || n % 5000, 'p' || n || '@x' || n % 5000 || '.example'
       from generate_series(1, 25000) as n`,
      [hub.ids.baltic],
    )
    await hub.query('insert into hub.leads (project_id, name) values ($1, $2)', [
      hub.ids.demir,
      'Çağlayan Gıda',
    ])
    for (const { definition } of indexes) await hub.query(definition)
    await hub.query('analyze hub.leads')
  }, 120_000)

  const wholeScansIn = (work: (sql: Sql) => Promise<unknown>) =>
    hub.deps.db.transaction('*', async (sql) => {
      const count = async () => {
        const [row] = await sql<{ whole: number }>`
          select seq_scan::int as whole from pg_catalog.pg_stat_xact_user_tables
          where schemaname = 'hub' and relname = 'leads'`
        return row?.whole ?? 0
      }
      const before = await count()
      await work(sql)
      return (await count()) - before
    })

  test.each(['caglayan', 'ÇAĞLAYAN gıda', 'aglaya', 'p777@x', 'caglyan', 'q', 'xyzxyz', '%'])(
    'a search for %s does not read the table from end to end',
    async (q) => {
      const whole = await wholeScansIn((sql) => sql`select * from private.find_leads(${q}, 300)`)
      expect(whole).toBe(0)
      expect((await hub.call('GET', `search?q=${encodeURIComponent(q)}`)).status).toBe(200)
    },
  )

  test('nor does the look-up of an e-mail, though rows are secured one by one', async () => {
    const plan = await hub.deps.db.transaction(
      '*',
      (sql) => sql`
        explain select id from hub.leads
        where project_id = ${hub.ids.baltic} and email_key = lower('P777@x777.example')`,
    )
    expect(JSON.stringify(plan)).toMatch(/leads_email.*Index Cond.*email_key/)
    const whole = await wholeScansIn((sql) => sql`select count(*) from hub.leads where phone = '1'`)
    expect(whole).toBe(1)
  })

  // The far end of the list: a page there must not read what lies before it.
  const FAR = ['2000-01-01T00:00:00.000000Z', '00000000-0000-0000-0000-000000000000'] as const

  const scansOfPages = async (filter: object) => {
    const page = { project_id: hub.ids.baltic ?? '', filter, limit: 101 }
    const first = await wholeScansIn((sql) => pageOf(sql, page))
    return first + (await wholeScansIn((sql) => pageOf(sql, { ...page, position: [...FAR] })))
  }

  test.each<[string, object]>([
    ['nothing', {}],
    ['a stage', { stage: 'new' }],
    ['rare words', { q: 'caglayan' }],
    ['a stage and words', { stage: 'won', q: 'company' }],
  ])('a list filtered by %s pages by an index', async (_, filter) => {
    expect(await scansOfPages(filter)).toBe(0)
  })

  test.each<[string, object]>([
    ['a tag', { tag: 'none' }],
    ['words that many have', { q: 'company' }],
  ])('a page of a list filtered by %s reads the table once at most', async (_, filter) => {
    expect(await scansOfPages(filter)).toBeLessThanOrEqual(2)
  })
})
