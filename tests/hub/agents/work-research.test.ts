import { describe, expect, test } from 'vitest'
import { PROOF } from '../../support/proof.ts'
import { hub, LIMIT_MS, leads, run, textOf, useHub } from '../support/work.ts'

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
    'drops a lead that the text does not name, and never loses an address',
    async () => {
      const text =
        'At the fair we met Ayşe Yılmaz of Yıldız Tekstil.\nAlso write to info@kaya.example soon.'
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
      }>('select name, email, title from hub.leads where id = any($1) order by email nulls first', [
        mission.result?.leads,
      ])
      expect(found).toEqual([
        { name: 'Ayşe Yılmaz', email: null, title: null },
        { name: null, email: 'info@kaya.example', title: null },
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
