import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decode } from '../../../hub/leads/csv.ts'
import type { Lead } from '../../../hub/leads/lead.ts'
import { importCalls } from '../support/import-calls.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
beforeAll(async () => {
  hub = await startLicensedHub(['copy', 'big', 'long'])
})
afterAll(() => hub.close())

const { bring, leadsOf } = importCalls(() => hub)

test('all fields of a project’s own may be as long as one may be, in a form and in a list', async () => {
  const fields = Array.from({ length: 40 }, (_, at) => ({
    ...{ key: `f${at}`, label: `F${at}`, kind: 'text', choices: [] },
  }))
  await hub.call('PUT', 'leads/fields', { project: 'long', fields })
  // In JSON this character takes six bytes.
  const custom = Object.fromEntries(fields.map(({ key }) => [key, '\u0001'.repeat(1000)]))
  const data = { name: 'Long', custom }
  const made = await hub.call('POST', 'lead/quick_add', { slug: 'long', data })
  expect((await made.json()).lead).toMatchObject(data)
  const rows = `Name,${fields.map(({ label }) => label)}\nRow,${fields.map(() => 'ğ'.repeat(1000))}`
  expect(await bring(rows, { project: 'long' })).toMatchObject({ status: 'done', created: 1 })
})

describe('an export', () => {
  test('comes back as it was, through formulas, quotes, lines and letters', async () => {
    const cells = ['=1+1', '+90 532 000', '-x', '@y', "'=2", 'a "b", c;d', 'Şükrü Işık', '🦀']
    for (const [n, text] of cells.entries()) {
      const data = {
        name: text,
        company: text,
        title: text,
        phone: text,
        source: text,
        language: n % 2 ? 'tr' : 'pt-BR',
        tags: ['t 1', `n${n}`],
      }
      await hub.call('POST', 'lead/quick_add', { slug: 'copy', data: { ...data, score: n } })
    }
    const file = await hub.call('GET', 'leads/export?project=copy')
    expect(file.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
    expect(file.headers.get('content-disposition')).toMatch(
      /^attachment; filename="leads-copy-\d{4}-\d\d-\d\d.csv"$/,
    )
    // Not text(): that would take the byte-order mark away.
    const csv = new Uint8Array(await file.arrayBuffer())
    expect([...csv.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
    for (const row of await rowsRaw(csv)) {
      for (const cell of row) expect(cell).not.toMatch(/^[=+\-@\t\r]/)
    }
    const leads = await leadsOf('copy')
    const same = await bring(csv, { project: 'copy', duplicates: 'update' })
    expect(same).toMatchObject({ created: 0, merged: 0, skipped: leads.length, refused: 0 })
    await hub.query('delete from hub.leads where project_id = $1', [hub.ids.copy])
    const again = await bring(csv, { project: 'copy' })
    expect(again).toMatchObject({ created: leads.length, refused: 0 })
    const plain = ({ id: _, created_at, updated_at, ...lead }: Record<string, unknown>) => lead
    expect((await leadsOf('copy')).map(plain)).toEqual(leads.map(plain))
  })

  test('has numbers that come back as they were', async () => {
    const fields = [{ key: 'tons', label: 'Tons', kind: 'number' }]
    await hub.call('PUT', 'leads/fields', { project: 'copy', fields })
    for (const tons of [41.125, 0.125, -2.5, 1500]) {
      const data = { name: `Tons ${tons}`, custom: { tons } }
      expect((await hub.call('POST', 'lead/quick_add', { slug: 'copy', data })).status).toBe(201)
    }
    const file = await hub.call('GET', 'leads/export?project=copy&field=tons')
    const csv = new Uint8Array(await file.arrayBuffer())
    const again = await bring(csv, { project: 'copy', duplicates: 'update' })
    expect(again).toMatchObject({ created: 0, merged: 0, skipped: 4, refused: 0 })
    const tons = (await leadsOf('copy')).flatMap(({ custom }: Lead) => custom.tons ?? [])
    expect(tons).toEqual([1500, -2.5, 0.125, 41.125])
  })

  test('that comes back with the address of another lead is refused in its column', async () => {
    const add = async (name: string) => {
      const data = { name, email: `${name}@back.example`, phone: '1' }
      const made = await hub.call('POST', 'lead/quick_add', { slug: 'copy', data })
      return (await made.json()).lead.id
    }
    const [one] = [await add('one'), await add('two')]
    const done = await bring(`id,Mail,Phone\n${one},two@back.example,2\n`, {
      ...{ project: 'copy', duplicates: 'update' },
    })
    expect(done).toMatchObject({ merged: 0, refused: 1 })
    expect(done.mistakes).toEqual([
      { row: 2, column: 'Mail', message: 'Another lead of this project has this e-mail.' },
    ])
    const [lead] = (await leadsOf('copy')).filter(({ id }: { id: string }) => id === one)
    expect(lead).toMatchObject({ email: 'one@back.example', phone: '1' })
  })

  test('streams all pages, filtered as the list is', async () => {
    await hub.query(
      `insert into hub.leads (project_id, name, stage)
       select $1, 'Many ' || n, 'lost' from generate_series(1, 2500) as n`,
      [hub.ids.big],
    )
    const rows = await rowsRaw(
      new Uint8Array(
        await (await hub.call('GET', 'leads/export?project=big&stage=lost')).arrayBuffer(),
      ),
    )
    expect(rows).toHaveLength(2501)
    expect(new Set(rows.map(([id]) => id)).size).toBe(2501)
    await hub.query(
      "insert into hub.leads (project_id, name) select $1, 'Many' from generate_series(1, 2600)",
      [hub.ids.big],
    )
    const found = await (await hub.call('GET', 'leads/export?project=big&q=many')).arrayBuffer()
    expect(await rowsRaw(new Uint8Array(found))).toHaveLength(5101)
    expect((await hub.call('GET', 'leads/export?project=nobody')).status).toBe(404)
  })

  /** The quoted cells as a spreadsheet sees them; the values of these tests have no line ends. */
  async function rowsRaw(bytes: Uint8Array): Promise<string[][]> {
    const lines = decode(bytes, 'utf-8').trimEnd().split('\r\n')
    return lines.map((row) =>
      [...row.matchAll(/"((?:[^"]|"")*)"|([^,]+)/g)].map(
        ([, quoted, bare]) => quoted ?? bare ?? '',
      ),
    )
  }
})
