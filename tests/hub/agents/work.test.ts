import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { applyPatch, parsePatch } from 'diff'
import { describe, expect, test } from 'vitest'
import { putFile } from '../support/mission-help.ts'
import { hub, LIMIT_MS, run, stub, textOf, useHub } from '../support/work.ts'

useHub()

describe('finance', () => {
  test(
    'copies numbers and does the sums itself',
    async () => {
      const mission = await run(
        'finance',
        'Demir Ltd’ye fatura: 12 saat, saati 1.250,50 TL, bir de kurulum. %20 KDV',
        () => ({
          title: 'Fatura',
          party: 'Demir Ltd',
          currency: 'TRY',
          items: [
            { description: 'Danışmanlık', quantity: '12', unit: 'saat', unit_price: '1.250,50' },
            { description: 'Kurulum', quantity: '1', unit: 'adet', unit_price: '999' },
          ],
          discount_percent: null,
          tax_percent: '20',
          open_points: [],
        }),
      )
      expect(mission.status, mission.reason ?? '').toBe('done')
      const rows = mission.result?.table?.rows ?? []
      expect(rows[0]).toEqual(['Danışmanlık', '12', 'saat', '1.250,50', '15.006,00 TRY'])
      // 999 stands nowhere in the task: it is not charged.
      expect(rows[1]).toEqual(['Kurulum', '1', 'adet', 'belirlenecek', 'belirlenecek'])
      expect(rows.at(-1)?.at(-1)).toBe('18.007,20 TRY')
      expect(await textOf(mission)).toContain('Kurulum')
      expect(stub.asked).toHaveLength(2)
    },
    LIMIT_MS,
  )
})

describe('finance and quantities', () => {
  test(
    'reads those that are spelled out, and says where it assumes one',
    async () => {
      const items = [
        { description: 'Danışmanlık', quantity: 'on iki', unit: 'saat', unit_price: '80' },
        { description: 'Kurulum', quantity: '7', unit: 'adet', unit_price: '80' },
      ]
      const mission = await run(
        'finance',
        'Demir’e fatura: on iki saat, 80 EUR, bir kurulum',
        () => ({
          title: 'Fatura',
          party: 'Nowhere Corp',
          // The task says euro, which counts.
          currency: 'TRY',
          items,
          discount_percent: '12',
          tax_percent: null,
          open_points: [],
        }),
      )
      const rows = mission.result?.table?.rows ?? []
      expect(rows.map((row) => row[1])).toEqual(['12', '1', '', ''])
      expect(rows.at(-1)?.at(-1)).toBe('1,040.00 EUR')
      const text = await textOf(mission)
      expect(text).toContain('The quantity of "Kurulum" stands nowhere in what was given')
      expect(text).not.toContain('The quantity of "Danışmanlık"')
      // Nobody has named this customer or a discount.
      expect(text).not.toMatch(/Nowhere|Discount/)
    },
    LIMIT_MS,
  )
})

describe('legal', () => {
  test(
    'leaves unnamed parties blank, and says that it is not a lawyer',
    async () => {
      const mission = await run(
        'legal',
        'draft an NDA for Demir Ltd, two years, about the route data',
        () => ({
          party_a: 'Evil Corp of Nowhere',
          party_b: 'Demir Ltd',
          purpose: 'The parties exchange route data to test the planner.',
          term: 'two years',
          survival: 'nine years',
          governing_law: 'Delaware',
        }),
      )
      expect(mission.status, mission.reason ?? '').toBe('done')
      const text = await textOf(mission)
      expect(text).toContain('Demir Ltd')
      expect(text).toContain('lasts two years')
      expect(text).not.toMatch(/Evil Corp|Delaware|nine years/)
      expect(text).toContain('no lawyer')
      expect(text).not.toContain('{{')
    },
    LIMIT_MS,
  )

  test(
    'ticks a box of a checklist only for words that were said',
    async () => {
      await putFile(
        hub,
        'docs/guvenlik.md',
        '# Güvenlik\n\nYedekler **her gece** alınır. Yedekler şifrelidir.',
      )
      const mission = await run(
        'legal',
        'KVKK kontrol listesi. Kayıtları iki yıl sonra siliyoruz.',
        ({ schema }) => ({
          answers: [
            { id: 'retention', state: 'met', quote: 'Kayıtları iki yıl sonra siliyoruz' },
            { id: 'basis', state: 'met', quote: 'açık rıza alıyoruz' },
            { id: 'refusal', state: 'met', quote: 'Dilediğiniz zaman abonelikten çıkabilirsiniz' },
            { id: 'security', state: 'met', quote: 'Yedekler şifrelidir' },
          ].filter(({ id }) => JSON.stringify(schema).includes(`"${id}"`)),
        }),
      )
      const states = Object.fromEntries(
        mission.result?.table?.rows.map((row) => [row[0], row[2]]) ?? [],
      )
      expect(states['KVKK m. 7']).toBe('belirtilmiş')
      expect(states['KVKK m. 5–6']).toBe('bilinmiyor')
      // What the project has written elsewhere counts, with the place where it stands.
      const whole = JSON.stringify(mission.result?.table?.rows)
      expect(whole).toContain(
        '"belirtilmiş","Dilediğiniz zaman abonelikten çıkabilirsiniz","her e-postanın alt bilgisi"',
      )
      expect(whole).toContain('"belirtilmiş","Yedekler şifrelidir","docs/guvenlik.md"')
    },
    LIMIT_MS,
  )
})

describe('sales', () => {
  test(
    'offers no price that nobody has given',
    async () => {
      const mission = await run('sales', 'a proposal: 40 licenses at 49 EUR', () => ({
        title: 'Proposal',
        need: 'Routes <b>fast</b>',
        solution: 'Planner',
        scope: ['40 licenses'],
        prices: [
          { item: 'License', price: '49 EUR' },
          { item: 'Training', price: '900 EUR' },
        ],
        next_steps: ['Call'],
      }))
      const text = await textOf(mission)
      expect(text).toContain('| License | 49 EUR |')
      expect(text).toContain('| Training | to be agreed |')
      expect(text).not.toContain('<b>')
    },
    LIMIT_MS,
  )
})

describe('engineer', () => {
  test(
    'leaves a patch that applies, and changes no file',
    async () => {
      const before = 'def total(items):\n    return sum(items)\n\n\nprint(total([1, 2]))\n'
      await putFile(hub, 'code/total.py', before)
      const mission = await run('engineer', 'total should skip None', ({ name }, count) => {
        if (name === 'plan') {
          return {
            title: 'Skip None',
            summary: 'total skips None',
            change: ['F1'],
            create: ['tests/test_total.py'],
          }
        }
        if (name.startsWith('create'))
          return { lines: ['from total import total', 'assert total([1, None]) == 1'] }
        // The first answer names a text that is not there.
        const find = count === 1 ? 'return sum(x)' : '    return sum(items)'
        return {
          edits: [{ find, replace: '    return sum(item for item in items if item is not None)' }],
        }
      })
      expect(mission.status, mission.reason ?? '').toBe('done')
      const patch = await textOf(mission, 1)
      const parts = parsePatch(patch)
      expect(parts.map(({ newFileName }) => newFileName)).toEqual([
        'b/code/total.py',
        'b/code/tests/test_total.py',
      ])
      expect(applyPatch(before, parts[0] ?? '')).toContain('is not None')
      const file = join(hub.paths.data_dir, 'projects/rota/code/total.py')
      expect(await readFile(file, 'utf8')).toBe(before)
    },
    LIMIT_MS,
  )

  test(
    'is shown the files that the task names first, and the mission says how many it was not',
    async () => {
      for (let at = 100; at < 260; at += 1) await putFile(hub, `code/many/f${at}.txt`, 'x')
      await putFile(hub, 'code/many/zones.txt', 'one\n')
      let shown = ''
      const mission = await run('engineer', 'Say two in zones.txt', ({ name, task }) => {
        if (name === 'plan') {
          shown = task
          return { title: 'Two', summary: 'zones says two', change: ['F1'], create: [] }
        }
        return { edits: [{ find: 'one', replace: 'two' }] }
      })
      expect(mission.status, mission.reason ?? '').toBe('done')
      expect(shown).toContain('F1: many/zones.txt')
      expect(shown).toContain('F150: ')
      expect(shown).not.toContain('F151: ')
      expect(mission.left_out.join(' ')).toMatch(/150 of \d+ files of code were named/)
      expect(await textOf(mission, 1)).toContain('+two')
    },
    LIMIT_MS,
  )

  test(
    'cannot name a file outside of its folder',
    async () => {
      const mission = await run('engineer', 'x', () => ({
        title: 'Evil',
        summary: 'x',
        change: ['none'],
        create: ['../../../etc/cron.d/x'],
      }))
      expect(mission.status).toBe('failed')
      expect(mission.reason).toContain('not a valid name for a new file')
    },
    LIMIT_MS,
  )

  test(
    'of the hub is off until the settings allow it',
    async () => {
      const off = await run('engineer_system', 'log the model name', () => ({}))
      expect(off).toMatchObject({
        status: 'failed',
        reason: expect.stringContaining('switched off'),
      })
      await hub.call('PUT', 'settings/agents', {
        engineer_system: true,
        web: 'ask',
        improve: 'never',
      })
      const on = await run('engineer_system', 'log more in log.ts', ({ name, task }) =>
        name === 'plan'
          ? {
              title: 'Log',
              summary: 'log',
              change: [/^(F\d+): log\.ts$/m.exec(task)?.[1]],
              create: [],
            }
          : { edits: [{ find: 'Writes one JSON line per event', replace: 'One JSON line' }] },
      )
      expect(on.status, on.reason ?? '').toBe('done')
      expect(await textOf(on, 1)).toContain('+++ b/hub/log.ts')
      expect(await readFile('hub/log.ts', 'utf8')).toContain('Writes one JSON line per event')
    },
    LIMIT_MS,
  )
})

describe('ceo', () => {
  test(
    'counts where the metrics stand now',
    async () => {
      const mission = await run('ceo', 'set OKRs for next quarter', () => ({
        title: 'OKR',
        objectives: [
          {
            objective: 'Win customers',
            why: 'x',
            key_results: [{ metric: 'leads_total', target: 900, how: 'fairs' }],
          },
        ],
        risks: [],
      }))
      const [count] = await hub.query<{ n: number }>(
        "select count(*)::int as n from hub.leads join hub.projects p on p.id = project_id where p.slug = 'rota'",
      )
      expect(mission.result?.table?.rows).toEqual([['Leads', count?.n, 900, 'fairs']])
    },
    LIMIT_MS,
  )
})

describe('pm', () => {
  test(
    'reads what people changed in drafts, and compares the week with the last',
    async () => {
      const [made] = await hub.query<{ id: string }>(
        `insert into hub.drafts (project_id, audience, subject, text, agent)
         select id, '{"kind":"list","filter":{}}', 'Routes', 'We lead the world. Shall we talk?', 'marketing'
         from hub.projects where slug = 'rota' returning id`,
      )
      const edit = (data: object) =>
        hub.call('POST', 'draft/edit', { project: 'rota', id: made?.id, ...data })
      const kept = () =>
        hub.query<{ first_text: string | null; is_edited: boolean }>(
          'select first_text, edited_at is not null as is_edited from hub.drafts where id = $1',
          [made?.id],
        )
      // The same words are no edit.
      expect((await edit({ subject: 'Routes' })).status).toBe(200)
      expect(await kept()).toEqual([{ first_text: null, is_edited: false }])
      for (const text of [
        'We plan routes. Shall we talk?',
        'We plan routes well. Shall we talk?',
      ]) {
        expect((await edit({ text })).status).toBe(200)
      }
      const first_text = 'Routes\nWe lead the world.\nShall we talk?'
      expect(await kept()).toEqual([{ first_text, is_edited: true }])
      await hub.query(
        `insert into hub.leads (project_id, name, created_at)
         select id, 'Last week', now() - interval '8 days' from hub.projects where slug = 'rota'`,
      )
      const mission = await run('pm', 'what can we do better', () => ({
        findings: ['Boasting is taken out'],
        proposals: [],
      }))
      expect(mission.status, mission.reason ?? '').toBe('done')
      const [asked] = stub.asked
      expect(asked?.task).toContain(
        'in "Routes"\n- removed: We lead the world.\n+ written: We plan routes well.',
      )
      expect(asked?.task).toMatch(/New leads: \d+ \(before: 1\)/)
      expect(mission.result?.summary).toContain('Drafts that people changed 1 (before 0)')
      expect(await textOf(mission)).toMatch(/\| Drafts that people changed \| 1 \| 0 \| \+1 \|/)
    },
    LIMIT_MS,
  )
})
