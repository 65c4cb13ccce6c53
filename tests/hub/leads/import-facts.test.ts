import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  factColumns,
  MAX_FACT_CELL,
  MAX_FACT_COLUMNS,
  notKept,
} from '../../../hub/leads/import-facts.ts'
import { notesOf, shorten } from '../../../hub/leads/shorten.ts'
import { CSV, importCalls } from '../support/import-calls.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
beforeAll(async () => {
  hub = await startLicensedHub(['list', 'wide', 'other'])
})
afterAll(() => hub.close())

const { bring, leadsOf } = importCalls(() => hub)

async function factsOf(project: string, name: string) {
  const lead = (await leadsOf(project)).find((one: { name: string }) => one.name === name)
  const { lead: whole } = await (await hub.call('GET', `lead/get?lead_id=${lead.id}`)).json()
  const rows = whole.evidence.filter(({ column }: { column: string | null }) => column !== null)
  return Object.fromEntries(
    rows.map((row: { column: string; fact: string; source: string }) => [
      row.column,
      `${row.fact} (${row.source})`,
    ]),
  )
}

describe('a column that no field takes', () => {
  test('stays with the lead as a fact, with its name, its file and row, as text', async () => {
    const done = await bring(
      'Name,Email,Trucks,ERP,Empty,Odd\nAda,ada@list.example,42,SAP,,"=1+1 <b>x</b>\nsecond"\nBo,bo@list.example,,Logo, ,',
      { project: 'list', file_name: 'fair.csv' },
    )
    expect(done).toMatchObject({ created: 2, facts: ['Trucks', 'ERP', 'Empty', 'Odd'] })
    expect(done.left_out).toEqual([])
    expect(await factsOf('list', 'Ada')).toEqual({
      Trucks: 'Trucks: 42 (fair.csv:2)',
      ERP: 'ERP: SAP (fair.csv:2)',
      Odd: 'Odd: =1+1 <b>x</b> second (fair.csv:2)',
    })
    expect(await factsOf('list', 'Bo')).toEqual({ ERP: 'ERP: Logo (fair.csv:3)' })
  })

  // In this order: each step starts from what the one before it left.
  test.each([
    ['skip', '50', 'SAP', { skipped: 1, merged: 0 }, ['Trucks: 42 (fair.csv:2)', undefined]],
    [
      'merge',
      '50',
      'x',
      { skipped: 0, merged: 1 },
      ['Trucks: 42 (fair.csv:2)', 'Depot: x (2.csv:2)'],
    ],
    [
      'merge',
      '51',
      'y',
      { skipped: 1, merged: 0 },
      ['Trucks: 42 (fair.csv:2)', 'Depot: x (2.csv:2)'],
    ],
    ['update', '51', '', { skipped: 0, merged: 1 }, ['Trucks: 51 (2.csv:2)', 'Depot: x (2.csv:2)']],
    ['update', '51', '', { skipped: 1, merged: 0 }, ['Trucks: 51 (2.csv:2)', 'Depot: x (2.csv:2)']],
  ])('of a lead that is known: %s (%s, %s)', async (duplicates, trucks, depot, counts, facts) => {
    const csv = `Name,Email,Trucks,Depot\nAda,ada@list.example,${trucks},${depot}`
    const done = await bring(csv, { project: 'list', file_name: '2.csv', duplicates })
    expect(done).toMatchObject(counts)
    const { Trucks, Depot } = await factsOf('list', 'Ada')
    expect([Trucks, Depot]).toEqual(facts)
  })

  test('of two rows for one lead takes the first, and with update the last', async () => {
    for (const [duplicates, kept] of [
      ['merge', 'Size: 1 (twice.csv:2)'],
      ['update', 'Size: 2 (twice.csv:3)'],
    ] as const) {
      const name = `Twin ${duplicates}`
      const rows = [1, 2].map((size) => `${name},${duplicates}@list.example,${size}`)
      const csv = `Name,Email,Size\n${rows.join('\n')}`
      await bring(csv, { project: 'list', file_name: 'twice.csv', duplicates })
      expect(await factsOf('list', name)).toEqual({ Size: kept })
    }
  })

  test('comes back from an export, is told in the timeline, and goes with its lead', async () => {
    const file = await hub.call('GET', 'leads/export?project=list')
    const csv = new Uint8Array(await file.arrayBuffer())
    const text = new TextDecoder().decode(csv)
    expect(text.split('\r\n')[0]).toMatch(/"created_at","Depot","ERP","Odd","Size","Trucks"$/)
    expect(text).toContain(`"'=1+1 <b>x</b> second"`)
    const done = await bring(csv, { project: 'other', file_name: 'back.csv' })
    expect(done.facts).toEqual(['Depot', 'ERP', 'Odd', 'Size', 'Trucks'])
    expect(await factsOf('other', 'Ada')).toMatchObject({
      Odd: expect.stringContaining('Odd: =1+1 <b>x</b> second (back.csv:'),
      Trucks: expect.stringContaining('Trucks: 51'),
    })
    const [ada] = (await leadsOf('list')).filter(({ name }: { name: string }) => name === 'Ada')
    const { activities } = await (await hub.call('GET', `lead/timeline?lead_id=${ada.id}`)).json()
    expect(activities.map(({ kind }: { kind: string }) => kind).sort()).toEqual([
      'imported',
      'merged',
      'merged',
    ])
    expect((await hub.call('POST', 'lead/delete', { lead_id: ada.id })).status).toBe(200)
    expect(await hub.query('select from hub.evidence where lead_id = $1', [ada.id])).toEqual([])
  })

  test('beyond the limit, or too long a cell, is said', async () => {
    const columns = Array.from({ length: MAX_FACT_COLUMNS + 2 }, (_, n) => `C${n}`)
    const cells = columns.map((_, n) => (n === 0 ? 'x'.repeat(MAX_FACT_CELL + 1) : `v${n}`))
    const csv = `Name,${columns.join(',')}\nWide,${cells.join(',')}`
    const preview = await (await hub.call('POST', 'leads/import_preview', csv, CSV)).json()
    expect(preview).toMatchObject({ facts: columns, max_facts: MAX_FACT_COLUMNS })
    const done = await bring(csv, { project: 'wide' })
    expect(done.facts).toEqual(columns.slice(0, MAX_FACT_COLUMNS))
    expect(done.left_out).toEqual([
      `A list keeps ${MAX_FACT_COLUMNS} columns as facts; these were not kept: C40, C41`,
      `1 cell was longer than ${MAX_FACT_CELL} characters; its fact has the beginning.`,
    ])
    const facts = await factsOf('wide', 'Wide')
    expect(Object.keys(facts)).toHaveLength(MAX_FACT_COLUMNS)
    expect(facts.C0).toMatch(new RegExp(`^C0: x{${MAX_FACT_CELL - 1}}… \\(`))
    expect(done).toMatchObject({ noticed: 1, notices: [{ row: 2, column: 'C0' }] })
    expect(done.notices[0].message).toContain('The cell has 601 characters, and a fact has 600.')
    const [cell] = await hub.query("select quote from hub.evidence where import_column = 'C0'")
    expect(cell).toEqual({ quote: cells[0] })
  })

  test('is exported whole, so that it stays whole when the file comes back', async () => {
    const story = `${'long '.repeat(200)}\nend`
    await bring(`Name,Email,Story\nTeller,teller@list.example,"${story}"`, { project: 'other' })
    const file = await hub.call('GET', 'leads/export?project=other&q=teller')
    const csv = await file.text()
    expect(csv).toContain(story)
    const again = await bring(csv, { project: 'other', duplicates: 'update' })
    expect(again).toMatchObject({ merged: 0, skipped: 1, noticed: 0 })
  })

  test('can be left out by name, and a name that is not there is refused', async () => {
    const csv = 'Name,Birthday,Trucks\nCo,1990,3'
    const chosen = { project: 'other', facts: '["Trucks"]' }
    expect((await bring(csv, chosen)).facts).toEqual(['Trucks'])
    expect(await factsOf('other', 'Co')).toEqual({ Trucks: 'Trucks: 3 (leads.csv:2)' })
    for (const facts of ['["Lorries"]', '[', '{"a":1}']) {
      const query = new URLSearchParams({ project: 'other', facts })
      const refused = await hub.call('POST', `leads/import?${query}`, csv, CSV)
      expect(refused.status, facts).toBe(422)
      expect((await refused.json()).errors[0].path).toMatch(/^facts/)
    }
  })
})

describe('a text that is too long for its place', () => {
  const whole = Array.from({ length: 3 }, (_, part) => `${part} ${'word '.repeat(1400)}`.trim())
  const note = whole.join('\n\n')
  const file = (id: string) => `leads/imports/${id}/errors?rows=noticed&language=tr`

  test('of a note becomes several notes, of a row is told, and its row is kept as it was', async () => {
    const long = 'y'.repeat(25_000)
    const rows = [
      `Long,long@list.example,"${note}",`,
      `Short,short@list.example,Called,`,
      `Wide,wide@list.example,,${long}`,
      `Endless,endless@list.example,${'z'.repeat(100_001)},`,
    ]
    const done = await bring(`Name,Email,Note,Story\n${rows.join('\n')}`, { project: 'wide' })
    expect(done).toMatchObject({ created: 3, refused: 1, noticed: 2 })
    expect(done.notices.map(({ row, column }: { row: number; column: string }) => [row, column]))
      // A row of more than 20,000 characters ends in the cell in which that is.
      .toEqual([
        [2, 'Note'],
        [2, 'Note'],
        [4, 'Story'],
        [4, 'Story'],
      ])
    expect(done.notices[0].message).toBe(
      `The note has ${note.length} characters. It is kept whole, as 3 notes.`,
    )
    expect(done.mistakes).toEqual([
      {
        row: 5,
        column: 'Note',
        message:
          'The note has 100001 characters, and a row can bring 100000. Shorten it, or look for a missing quotation mark.',
      },
    ])
    const found = await leadsOf('wide', '&q=long@list.example')
    const { lead } = await (await hub.call('GET', `lead/get?lead_id=${found[0].id}`)).json()
    expect(lead.notes.map(({ text }: { text: string }) => text)).toEqual(whole)
    const noticed = await hub.call('GET', file(done.id))
    const named = `attachment; filename="import-notices-${done.id}.csv"`
    expect(noticed.headers.get('content-disposition')).toBe(named)
    const csv = await noticed.text()
    expect(csv).toContain(note)
    expect(csv).toContain(long)
    expect(csv).toContain(`Not ${note.length} karakter. Tümü, 3 not hâlinde tutuldu.`)
    expect(csv).not.toContain('endless@list.example')

    // The row goes with its lead.
    await hub.call('POST', 'lead/delete', { lead_id: found[0].id })
    expect(await (await hub.call('GET', file(done.id))).text()).not.toContain('word word')
    const undone = await hub.call('POST', `leads/imports/${done.id}/undo`)
    expect(await undone.json()).toMatchObject({ import: { removed: 2, noticed: 0 }, kept: 0 })
  })

  test('or a note of a lead that is known, is added once unless known leads are skipped', async () => {
    const lead = 'Name,Email,Note\nNoted,noted@list.example,'
    await bring(`${lead}First`, { project: 'other' })
    for (const [note, duplicates, counts] of [
      ['Second', 'skip', { skipped: 1, merged: 0 }],
      ['Second', 'merge', { skipped: 0, merged: 1 }],
      ['Second', 'update', { skipped: 1, merged: 0 }],
      ['First', 'merge', { skipped: 1, merged: 0 }],
    ] as const) {
      expect(await bring(lead + note, { project: 'other', duplicates })).toMatchObject(counts)
    }
    const rows = await bring(`${lead}Third\nNoted,noted@list.example,Fourth`, {
      project: 'wide',
      duplicates: 'merge',
    })
    expect(rows).toMatchObject({ created: 1, merged: 1 })
    expect(
      await hub.query(
        `select project.slug, array_agg(note.text order by note.text) as notes
         from hub.notes as note
         join hub.leads as lead on lead.id = note.lead_id
         join hub.projects as project on project.id = lead.project_id
         where lead.name = 'Noted' group by project.slug order by project.slug`,
      ),
    ).toEqual([
      { slug: 'other', notes: ['First', 'Second'] },
      { slug: 'wide', notes: ['Fourth', 'Third'] },
    ])
  })

  test('is never divided inside a character', () => {
    const smile = '😀'.repeat(7_500)
    expect(notesOf(`a${smile}`).join('')).toBe(`a${smile}`)
    expect(notesOf(`a${smile}`).map((text) => text.isWellFormed())).toEqual([true, true])
    expect(shorten(smile, 10)).toBe(`${'😀'.repeat(4)}…`)
    expect(notesOf(' \n ')).toEqual([])
  })
})

test.each([
  [['Name', 'x', 'created_at'], ['x']],
  [['Name', 'x', 'row', 'mistakes'], ['x']],
  [['Name', 'x', 'satır', 'hatalar'], ['x']],
  [
    ['Name', 'x', 'row'],
    ['x', 'row'],
  ],
])('the columns that our own files add are no facts: %j', (columns, kept) => {
  expect(factColumns(columns, { name: 'Name' }).kept).toEqual(kept)
})

test('nothing is said where nothing was left out', () => {
  expect(notKept({ over: [], cut: 0 })).toEqual([])
})
