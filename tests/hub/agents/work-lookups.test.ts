import { describe, expect, test } from 'vitest'
import { AGENTS } from '../../../hub/agents/agents.ts'
import { knownText } from '../../../hub/agents/numbers/known.text.ts'
import { COLUMNS } from '../../../hub/agents/numbers/tables.ts'
import { PROOF } from '../../support/proof.ts'
import { compose, reach } from '../support/mission-help.ts'
import { hub, LIMIT_MS, leads, run, stub, textOf, useHub } from '../support/work.ts'

useHub()

/** Several times what a model would be given at once; 500 in the long form. */
const ROWS = PROOF ? 500 : 150

describe('research', () => {
  test(
    'makes leads of a whole table with evidence, without asking a model',
    async () => {
      const rows = Array.from({ length: ROWS }, (_, n) =>
        [
          `Firma ${n} A.Ş.`,
          `Kişi ${n}`,
          n === 7 ? 'no address' : `kisi${n}@firma${n}.example`,
          `${n} araç`,
        ].join(';'),
      )
      const text = ['Firma Adı;Yetkili;E-posta;Filo', ...rows, rows[3]].join('\n')
      const mission = await run('research', 'Bu listeyi leadlere ekle', () => ({}), { text })
      expect(mission.status, mission.reason ?? '').toBe('done')
      expect(mission.tokens).toBe(0)
      const [count] = await hub.query<{ n: number; with_evidence: number }>(
        `select count(*)::int as n, count(*) filter (where exists (
         select from hub.evidence where lead_id = leads.id and fact like 'Filo: %'))::int as with_evidence
       from hub.leads where company like 'Firma %'`,
      )
      expect(count?.n).toBeGreaterThanOrEqual(ROWS - 1)
      expect(count?.with_evidence).toBe(count?.n)
      expect(mission.result?.summary).toContain(String(count?.n))
      const again = await run('research', 'Bu listeyi leadlere ekle', () => ({}), { text })
      const [after] = await hub.query<{ n: number }>(
        "select count(*)::int as n from hub.leads where email like '%@firma%.example'",
      )
      expect(after?.n, again.result?.summary).toBe(ROWS - 1)
    },
    LIMIT_MS,
  )

  test(
    'drops a lead that the text does not name, never loses an address, and keeps the language said of one',
    async () => {
      const text =
        'At the fair we met Ayşe Yılmaz of Yıldız Tekstil, whose uncle is German. She met jan@krol.example, who speaks Polish.\nAlso write to info@kaya.example in German soon.'
      const none = {
        name: null,
        company: null,
        email: null,
        title: null,
        website: null,
        country: null,
      }
      const mission = await run(
        'research',
        'Who is in these notes?',
        () => ({
          leads: [
            {
              ...none,
              name: 'Ayşe Yılmaz',
              company: 'Yıldız Tekstil',
              title: 'CEO',
              quote: 'we met Ayşe Yılmaz of Yıldız Tekstil',
            },
            {
              ...none,
              name: 'John Invented',
              company: 'Made Up Inc',
              quote: 'John Invented of Made Up',
            },
          ],
        }),
        { text },
      )
      expect(mission.status, mission.reason ?? '').toBe('done')
      const found = await hub.query<{
        name: string | null
        email: string | null
        title: string | null
        language: string | null
      }>(
        'select name, email, title, language from hub.leads where id = any($1) order by email nulls first',
        [mission.result?.leads],
      )
      expect(found).toEqual([
        { name: 'Ayşe Yılmaz', email: null, title: null, language: null },
        { name: null, email: 'info@kaya.example', title: null, language: 'de' },
        { name: null, email: 'jan@krol.example', title: null, language: 'pl' },
      ])
    },
    LIMIT_MS,
  )

  test(
    'with nothing to look in makes a plan and no lead',
    async () => {
      const before = await leads()
      const mission = await run('auto', "bana İstanbul'da 20 tane lojistik firması bul", () => ({
        criteria: ['20 ve üzeri araç'],
        places: [{ where: 'UTİKAD üye listesi', query: 'İstanbul lojistik' }],
      }))
      expect(mission).toMatchObject({ department: 'research', status: 'done' })
      expect(await textOf(mission)).toContain('UTİKAD üye listesi')
      expect(await leads()).toEqual(before)
    },
    LIMIT_MS,
  )

  test(
    'reads only files of its own project',
    async () => {
      for (const path of [
        '../other/CONTEXT.md',
        '/etc/passwd',
        'leads/../../../x',
        '.git/config',
        'docs',
      ]) {
        const mission = await run('research', 'import it', () => ({}), { files: [path] })
        expect(mission.status, path).toBe('failed')
        expect(mission.reason, path).toMatch(/not a valid file path|no file/)
      }
    },
    LIMIT_MS,
  )
})

describe('data', () => {
  const ask = (sql: string, chart = 'none') => ({ title: 'Leads by stage', sql, chart })

  test(
    'answers from its project only, with the query, a table and a chart',
    async () => {
      const mission = await run('data', 'which fairs brought them', () =>
        ask(
          `select source as "Source", count(*) as "Leads" from leads group by 1 order by 2 desc;`,
          'bar',
        ),
      )
      expect(mission.status, mission.reason ?? '').toBe('done')
      expect(mission.result).toMatchObject({
        table: { columns: ['Source', 'Leads'] },
        sql: expect.stringContaining('group by'),
      })
      const projects = await run('data', 'projects', () =>
        ask('select count(*) as n from projects'),
      )
      expect(projects.result?.table?.rows).toEqual([[1]])
      expect(await textOf(mission)).toContain('```sql')
    },
    LIMIT_MS,
  )

  test(
    'gets the error of a failing query once, and fails with it the second time',
    async () => {
      const mended = await run('data', 'how many', ({ name }) =>
        ask(name === 'query' ? 'select count(*) from lead' : 'select count(*) as n from leads'),
      )
      expect(mended.status, mended.reason ?? '').toBe('done')
      expect(stub.asked.at(-1)?.task).toMatch(
        /There is no table or view "lead" .* There are these: projects, leads, evidence/,
      )
      const failed = await run('data', 'how many', () => ask('select nothing from nowhere'))
      expect(failed.status).toBe('failed')
      expect(failed.reason).toContain('nowhere')
    },
    LIMIT_MS,
  )

  test(
    'needs no model for the questions that it offers itself',
    async () => {
      const asked = Object.values(knownText.en).map(({ ask }): string => ask)
      asked.push(knownText.tr.leads.ask)
      stub.script(() => ({}))
      const ids = await Promise.all(asked.map((task) => compose(hub, 'data', task)))
      const missions = await Promise.all(ids.map((id) => reach(hub, id)))
      for (const [index, { status, reason, tokens, result }] of missions.entries()) {
        expect([status, tokens, reason], asked[index]).toEqual(['done', 0, null])
        expect(result?.follow_ups, asked[index]).toHaveLength(3)
      }
      const [{ n } = { n: 0 }] = await hub.query<{ n: number }>(
        `select count(*)::int as n from hub.leads
         where project_id = (select id from hub.projects where slug = 'rota')`,
      )
      expect(missions[0]?.result?.summary).toMatch(
        RegExp(`^You have ${n} leads, \\d+ of them new.$`),
      )
      expect(missions.at(-1)?.result?.summary).toMatch(RegExp(`^${n} adayınız var, `))
    },
    LIMIT_MS,
  )

  test(
    'knows the tables and columns that its queries can see, and no other',
    async () => {
      const rows = await hub.query<{ table: string; columns: string[] }>(
        `select table_name as table, array_agg(column_name::text) as columns
         from information_schema.column_privileges
         where grantee = 'hub_data' and table_schema = 'hub' group by 1`,
      )
      expect(rows.map(({ table }) => table).sort()).toEqual(Object.keys(COLUMNS).sort())
      for (const { table, columns } of rows) {
        expect(columns, table).toEqual(expect.arrayContaining([...(COLUMNS[table] ?? [])]))
      }
    },
    LIMIT_MS,
  )

  test.each([
    [120, 1, 'The budget of 120 tokens is used up'],
    [121, 2, 'nowhere'],
  ])(
    'with %i tokens asks a model that uses 120 each time %i times',
    async (tokens, times, why) => {
      const { budget } = AGENTS.data
      const before = budget.tokens
      budget.tokens = tokens
      try {
        const failed = await run('data', 'how many', () => ask('select nothing from nowhere'))
        expect(failed.reason).toContain(why)
        expect(stub.asked).toHaveLength(times)
        expect(failed.tokens).toBe(120 * times)
      } finally {
        budget.tokens = before
      }
    },
    LIMIT_MS,
  )

  test(
    'reads what the hub said of missions in the language of the question',
    async () => {
      await run('research', 'import it', () => ({}), { files: ['docs'] })
      const said = async (task: string, column: string) => {
        const sql = `select ${column} as why from missions where reason ->> 'en' like '"docs"%' limit 1`
        return (await run('data', task, () => ask(sql))).result?.table?.rows
      }
      const turkish = '“docs” bu projede geçerli bir dosya yolu değil.'
      expect(await said('Görevler neden başarısız oldu?', 'reason')).toEqual([[turkish]])
      const english = '"docs" is not a valid file path in this project.'
      expect(await said('Why did missions fail?', 'reason')).toEqual([[english]])
      expect(await said('Why did missions fail?', "reason ->> 'en'")).toEqual([[english]])
    },
    LIMIT_MS,
  )

  test.each<[sql: string, why: RegExp]>([
    ['delete from leads', /Only one select/],
    ['set role hub_rw', /Only one select/],
    ['select 1; delete from leads', /Only one statement/],
    ['select 1) as x; delete from leads; select * from (select 1', /Only one statement/],
    ['with gone as (delete from leads returning *) select * from gone', /must be at the top level/],
    [
      "select set_config('hub.project', '*', true)",
      /only read this project's data .*function set_config/,
    ],
    ["select pg_read_file('/etc/passwd')", /only read this project's data .*function pg_read_file/],
    ["select lo_import('/etc/passwd')", /only read this project's data .*function lo_import/],
    ['select * from mission_steps', /only read this project's data .*table mission_steps/],
    ['select * from suppression', /only read this project's data .*table suppression/],
    ['select vat from leads', /no column "vat"\. .*leads\(id, project_id/],
    ['select l.vat from leads as l', /no column "l.vat"\. /],
    ['select * from public.hub_migrations', /only read this project's data .*schema public/],
    ['select pg_sleep(60)', /statement timeout/],
  ])(
    'refuses, for what it is: %s',
    async (sql, why) => {
      const before = await leads()
      const mission = await run('data', 'x', () => ask(sql))
      expect(mission.status).toBe('failed')
      expect(mission.reason).toMatch(why)
      expect(mission.result).toBeNull()
      expect(await leads()).toEqual(before)
    },
    LIMIT_MS,
  )
})
