import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  factColumns,
  MAX_FACT_CELL,
  MAX_FACT_COLUMNS,
  notKept,
} from '../../../hub/leads/import-facts.ts'
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
