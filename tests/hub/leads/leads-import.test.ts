import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LANGUAGES } from '../../../hub/i18n/words.ts'
import { type Delimiter, readCsv } from '../../../hub/leads/csv.ts'
import { readRow } from '../../../hub/leads/import-row.ts'
import { importsText } from '../../../hub/leads/imports.text.ts'
import { CSV, importCalls } from '../support/import-calls.ts'
import { startLicensedHub } from '../support/licensed.ts'

let hub: Awaited<ReturnType<typeof startLicensedHub>>
beforeAll(async () => {
  hub = await startLicensedHub(['demir', 'baltic', 'big', 'copy', 'back', 'same'])
})
afterAll(() => hub.close())

const { bring, leadsOf, read, send } = importCalls(() => hub)

async function rowsOf(text: string, delimiter: Delimiter = ','): Promise<string[][]> {
  const rows: string[][] = []
  for await (const row of readCsv(text, delimiter)) rows.push(row)
  return rows
}

describe('an import', () => {
  test('of 500 rows makes 500 leads in the order of the file, each with its evidence', async () => {
    const rows = Array.from(
      { length: 500 },
      (_, n) => `Person ${n},p${n}@x${n}.example,Company ${n}`,
    )
    const done = await bring(`Name,Email,Company\n${rows.join('\n')}`, {
      project: 'big',
      file_name: '../fair.csv',
      lawful_basis: 'legitimate_interest',
      basis_note: 'We sell what they buy',
      tags: 'fair, 2026',
    })
    expect(done).toMatchObject({
      status: 'done',
      file: 'fair.csv',
      total: 500,
      handled: 500,
      created: 500,
      merged: 0,
      skipped: 0,
      refused: 0,
      mistakes: [],
    })
    const leads = await leadsOf('big')
    expect(leads.map(({ name }: { name: string }) => name)).toEqual(
      rows.map((row) => row.split(',')[0]),
    )
    expect(leads[7]).toMatchObject({
      source: 'fair.csv',
      lawful_basis: 'legitimate_interest',
      tags: ['fair', '2026'],
      stage: 'new',
    })
    const one = await (await hub.call('GET', `lead/get?lead_id=${leads[7].id}`)).json()
    expect(one.lead.evidence).toMatchObject([
      {
        fact: 'Name: Person 7; Company: Company 7; Email: p7@x7.example',
        quote: 'Name: Person 7; Email: p7@x7.example; Company: Company 7',
        source: 'fair.csv:9',
      },
    ])
    expect(await readdir(join(hub.paths.data_dir, 'imports'))).toEqual([])
  })

  test('gives its note to rows that name a legitimate interest and have none, and nothing else of a basis', async () => {
    const csv = [
      'Name,Basis,Basis note',
      'Own note,Legitimate interest,He asked',
      'No note,Legitimate interest,',
      'Other basis,Contract,',
      'No basis,,',
    ].join('\n')
    const given = {
      basis_note: 'We sell what they buy',
      basis_source: 'Stand 4',
      basis_on: '2026-03-01',
    }
    const mapping = { name: 'Name', lawful_basis: 'Basis', basis_note: 'Basis note' }
    const options = {
      project: 'demir',
      lawful_basis: 'consent',
      ...given,
      mapping: JSON.stringify(mapping),
    }
    expect(await bring(csv, options)).toMatchObject({ created: 4 })
    expect(
      await hub.query(
        `select name, lawful_basis, basis_note, basis_source, basis_on::text from hub.leads
         where name in ('Own note', 'No note', 'Other basis', 'No basis') order by name`,
      ),
    ).toEqual([
      { name: 'No basis', lawful_basis: 'consent', ...given },
      {
        name: 'No note',
        lawful_basis: 'legitimate_interest',
        basis_note: given.basis_note,
        basis_source: null,
        basis_on: null,
      },
      {
        name: 'Other basis',
        lawful_basis: 'contract',
        basis_note: null,
        basis_source: null,
        basis_on: null,
      },
      {
        name: 'Own note',
        lawful_basis: 'legitimate_interest',
        basis_note: 'He asked',
        basis_source: null,
        basis_on: null,
      },
    ])
    await hub.query(
      "delete from hub.leads where name in ('Own note', 'No note', 'Other basis', 'No basis')",
    )
  })

  test('by a legitimate interest says which', async () => {
    const options = { project: 'demir', lawful_basis: 'legitimate_interest' }
    const refused = await send('Name\nA', options)
    expect(refused.status).toBe(422)
    expect((await refused.json()).errors).toMatchObject([{ path: 'basis_note', code: 'unusable' }])
  })

  test('tells mistakes by row and column; the file of them, corrected, comes in', async () => {
    const csv = [
      'Ad;E-posta;Puan;Aşama',
      'Good;good@x.example;50;Teklif',
      'Bad mail;not-an-address;50;',
      '',
      ';;;won',
      '=Formula;f@x.example;9000;dreaming',
      'Too;many@x.example;1;new;cells',
    ].join('\r\n')
    const done = await bring(csv, { project: 'demir' })
    expect(done).toMatchObject({ total: 6, created: 1, refused: 4 })
    expect(done.mistakes.map((m: { row: number; column: string }) => [m.row, m.column])).toEqual([
      [3, 'E-posta'],
      [5, 'Ad'],
      [6, 'Aşama'],
      [6, 'Puan'],
      [7, 'Aşama'],
    ])
    expect((await leadsOf('demir'))[0]).toMatchObject({
      name: 'Good',
      stage: 'proposal',
      score: 50,
    })
    const answer = await hub.call('GET', `leads/imports/${done.id}/errors`)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': `attachment; filename="import-errors-${done.id}.csv"`,
    })
    const file = await answer.text()
    const rows = await rowsOf(file.replace('\uFEFF', ''))
    expect(rows[0]).toEqual(['Ad', 'E-posta', 'Puan', 'Aşama', 'row', 'mistakes'])
    expect(rows[1]?.slice(0, 5)).toEqual(['Bad mail', 'not-an-address', '50', '', '3'])
    expect(file).toContain(`"'=Formula"`)
    const corrected = file.replace('not-an-address', 'good-now@x.example')
    // A cell too many is in no column: whoever corrects the row sees it, and nobody loses it.
    expect(rows[4]).toHaveLength(7)
    expect(rows[4]?.[6]).toBe('cells')
    expect(await bring(corrected, { project: 'demir' })).toMatchObject({ created: 1, refused: 3 })
  })

  test('says what is wrong in the language that is asked for, whenever that is', async () => {
    const tr = { 'Accept-Language': 'tr' }
    const csv = [
      'Ad;E-posta;Puan;Aşama;Dayanak (KVKK)',
      'A;bu bir adres değil;çok;düş;öyle',
      `${'x'.repeat(201)};b@x.example`,
      'C;c@x.example;1;Yeni;Açık rıza;fazla',
    ].join('\n')
    const { id } = await bring(csv, { project: 'demir', file_name: 'fuar.csv' })
    const answer = await hub.call('GET', `leads/imports/${id}`, undefined, tr)
    const { import: done } = await answer.json()
    const told = (mistakes: { row: number; column: string; message: string }[]) =>
      mistakes.map(({ row, column, message }) => `${row} ${column}: ${message}`)
    expect(told(done.mistakes)).toEqual([
      '2 E-posta: Geçerli bir e-posta adresi girin.',
      '2 Aşama: Aşama şunlardan biri olmalı: Yeni, İletişim kuruldu, Yanıtladı, Görüşme, Teklif, Kazanıldı, Kaybedildi.',
      '2 Dayanak (KVKK): Hukuki dayanak şunlardan biri olmalı: Açık rıza, Sözleşme, Meşru menfaat.',
      '2 Puan: Puan 0 ile 100 arasında bir tam sayı olmalı.',
      '3 Ad: Çok uzun.',
      '4 Dayanak (KVKK): Satırda 6 hücre var, başlıkta 5. Eksik bir tırnak arayın.',
    ])
    expect(told((await read(id)).mistakes).slice(-2)).toEqual([
      '3 Ad: Too long.',
      '4 Dayanak (KVKK): The row has 6 cells, but the header has 5. Look for a missing quotation mark.',
    ])
    const path = `leads/imports/${id}/errors`
    const english = await (await hub.call('GET', path)).text()
    expect(english).toContain('"row","mistakes"')
    for (const turkish of [
      await hub.call('GET', path, undefined, tr),
      await hub.call('GET', `${path}?language=tr`),
    ]) {
      expect(turkish.headers.get('content-language')).toBe('tr')
      const text = await turkish.text()
      expect(text).toContain('"satır","hatalar"')
      expect(text).toContain('E-posta: Geçerli bir e-posta adresi girin. Aşama: ')
      expect(text).toContain('"b@x.example","","","",3,"Ad: Çok uzun."')
      const corrected = text.replace('bu bir adres değil', 'a@x.example').replace('çok', '7')
      expect(await bring(corrected, { project: 'demir' })).toMatchObject({ refused: 3 })
    }
  })

  test.each([
    [
      '"A,a@x.example',
      'Dosya geçerli bir CSV değil: bir tırnak 3. satıra dek kapanmıyor. Kapatın ya da silin.',
    ],
    ['A,a@x.example', 'Dosyada “Nope” adlı sütun yok. Dosyayı yeniden seçin.'],
  ])('a file with %j and a wrong mapping is refused in Turkish', async (row, message) => {
    const mapping = message.includes('Nope') ? { mapping: '{"email": "Nope"}' } : undefined
    const headers = { ...CSV, 'Accept-Language': 'tr' }
    const csv = `Name,Email\n${row}\nB,b@x.example`
    const options = new URLSearchParams({ project: 'demir', ...mapping })
    const refused = await hub.call('POST', `leads/import?${options}`, csv, headers)
    expect((await refused.json()).errors[0].message).toBe(message)
  })

  test('a word for a stage or a basis that a mistake names is taken, in both languages', async () => {
    const header = {
      columns: ['Name', 'Stage', 'Basis'],
      mapping: { name: 'Name', stage: 'Stage' },
    }
    for (const language of LANGUAGES) {
      const { stage, lawful_basis } = importsText[language].row
      const words = (sentence: string) =>
        sentence
          .replace(/^.*?(must be |: )/, '')
          .replace(/\.$/, '')
          .split(/, | or | ya da /)
      expect(words(stage)).toHaveLength(7)
      for (const word of words(stage)) {
        expect([word, readRow(['A', word], header).mistakes]).toEqual([word, []])
      }
      expect(words(lawful_basis)).toHaveLength(3)
      for (const word of words(lawful_basis)) {
        const mapping = { name: 'Name', lawful_basis: 'Basis' } as const
        const { mistakes } = readRow(['A', '', word], { ...header, mapping })
        expect([word, mistakes]).toEqual([word, []])
      }
    }
  })

  test('by a form, with a mapping of one’s own', async () => {
    const form = new FormData()
    form.set(
      'file',
      new File(
        [Uint8Array.from([0xdd, 0x3b, 0x42, 0x0a, 0xde, 0x65, 0x6e, 0x3b, 0x6b])],
        'eski.csv',
      ),
    )
    form.set('project', 'baltic')
    form.set('mapping', JSON.stringify({ company: 'İ', name: 'B' }))
    const request = new Request('http://localhost/', { method: 'POST', body: form })
    const type = request.headers.get('content-type') ?? ''
    const bytes = new Uint8Array(await request.arrayBuffer())
    const taken = await hub.call('POST', 'leads/import', bytes, { 'content-type': type })
    expect(taken.status).toBe(202)
    expect(taken.headers.get('location')).toMatch(/leads\/imports\/[0-9a-f-]{36}$/)
    await expect
      .poll(async () => (await leadsOf('baltic'))[0])
      .toMatchObject({
        company: 'Şen',
        name: 'k',
        source: 'eski.csv',
      })
  })

  test('of the same file doubles nothing, with and without e-mails, edited in between or not', async () => {
    const csv = 'Name,Email,Company\nAda,ADA@x.example,A\nBob,,B\nBob,,B\nada,ada@X.example,\n'
    const first = await bring(csv, { project: 'same' })
    expect(first).toMatchObject({ created: 2, skipped: 2 })
    const bob = (await leadsOf('same')).find(({ name }: { name: string }) => name === 'Bob')
    await hub.call('POST', 'lead/update', { lead_id: bob.id, name: 'Robert', company: 'C' })
    const both = await Promise.all([
      bring(csv, { project: 'same' }),
      bring(csv, { project: 'same', duplicates: 'merge' }),
    ])
    expect(both.map(({ created }) => created)).toEqual([0, 0])
    expect(await leadsOf('same')).toHaveLength(2)
    expect(await bring(`${csv}\n`, { project: 'copy' })).toMatchObject({ created: 2 })
  })

  test('merges into what is empty, updates what is there, or leaves it, as chosen', async () => {
    const add = await hub.call('POST', 'lead/quick_add', {
      slug: 'demir',
      data: { name: 'Kim', email: 'kim@x.example', tags: ['old'] },
    })
    const { id } = (await add.json()).lead
    const lead = async () => (await (await hub.call('GET', `lead/get?lead_id=${id}`)).json()).lead
    const csv = 'Name,Email,Title,Tags\nKimberly,KIM@x.example,CEO,new'
    expect(await bring(csv, { project: 'demir' })).toMatchObject({ skipped: 1, merged: 0 })
    expect(await lead()).toMatchObject({ name: 'Kim', title: null, tags: ['old'], evidence: [] })
    const merged = await bring(csv, { project: 'demir', duplicates: 'merge' })
    expect(merged).toMatchObject({ skipped: 0, merged: 1 })
    expect(await lead()).toMatchObject({ name: 'Kim', title: 'CEO', tags: ['old', 'new'] })
    expect((await lead()).evidence).toHaveLength(1)
    expect(await bring(csv, { project: 'demir', duplicates: 'merge' })).toMatchObject({
      skipped: 1,
    })
    await bring(csv, { project: 'demir', duplicates: 'update' })
    expect(await lead()).toMatchObject({ name: 'Kimberly', email: 'KIM@x.example' })
  })

  test.each([
    ['skip', { name: 'Zoe', title: null, tags: ['a'] }, { created: 1, merged: 0, skipped: 1 }],
    ['merge', { name: 'Zoe', title: 'CTO', tags: ['a', 'b'] }, { created: 1, merged: 1 }],
    ['update', { name: 'Zoe B', title: 'CTO', tags: ['a', 'b'] }, { created: 1, merged: 1 }],
  ])('of two rows about one new lead: %s', async (duplicates, lead, counts) => {
    const email = `${duplicates}@zoe.example`
    const csv = `Name,Email,Title,Tags\nZoe,${email},,a\nZoe B,${email},CTO,b`
    expect(await bring(csv, { project: 'demir', duplicates })).toMatchObject(counts)
    const all: { email: string }[] = await leadsOf('demir')
    expect(all.filter((one) => one.email === email)).toMatchObject([lead])
  })

  test('names each row whose lead would have more than 50 tags, and cuts none of them', async () => {
    const tags = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, at) => `t${from + at}`).join(';')
    const full = [
      'Name,Email,Title,Tags',
      `Known,known@full.example,CEO,${tags(45, 51)}`,
      `New,new@full.example,,${tags(1, 49)}`,
      `Room,room@full.example,,${tags(1, 40)}`,
      `Room,room@full.example,CTO,${tags(41, 49)}`,
      `Room,room@full.example,CFO,${tags(41, 48)}`,
    ].join('\n')
    await bring(`Name,Email,Tags\nKnown,known@full.example,${tags(1, 48)}`, { project: 'demir' })
    const options = { project: 'demir', duplicates: 'update', tags: 'fair,2026' }
    const done = await bring(full, options)
    expect(done).toMatchObject({ created: 1, merged: 1, skipped: 0, refused: 3 })
    const why = (tags: number) => ({
      column: 'Tags',
      message: `With this row the lead would have ${tags} tags, and one lead can have 50. Take some out of the row or off the lead.`,
    })
    expect(done.mistakes).toEqual([
      { row: 2, ...why(53) },
      { row: 3, ...why(51) },
      { row: 5, ...why(51) },
    ])
    const leads: { name: string; title: string; tags: string[] }[] = await leadsOf('demir')
    const found = (name: string) => leads.filter((lead) => lead.name === name)
    expect(found('New')).toEqual([])
    expect(found('Known')).toMatchObject([{ title: null }])
    expect(found('Known')[0]?.tags).toHaveLength(48)
    expect(found('Room')).toMatchObject([{ title: 'CFO' }])
    expect(found('Room')[0]?.tags).toHaveLength(50)
  })

  test.each([
    [{ mapping: '{"email": "Nope"}' }, 422, 'mapping.email'],
    [{ mapping: '{"email": ' }, 422, 'mapping'],
    [{ mapping: '{"colour": "Name"}' }, 422, 'mapping.colour'],
    [{ mapping: '{"phone": "Name"}' }, 422, 'mapping'],
    [{ duplicates: 'double' }, 422, 'duplicates'],
    [{ lawful_basis: 'because' }, 422, 'lawful_basis'],
    [{ encoding: 'ebcdic' }, 422, 'encoding'],
  ] as [Record<string, string>, number, string][])(
    'with %j is refused',
    async (options, status, path) => {
      const refused = await send('Name\nA', { project: 'demir', ...options })
      expect(refused.status).toBe(status)
      expect((await refused.json()).errors[0].path).toBe(path)
    },
  )

  test('into an unknown project, or of a damaged file, leaves nothing behind', async () => {
    expect((await send('Name\nA', { project: 'nobody' })).status).toBe(404)
    const before = await hub.query('select from hub.imports')
    const damaged = await send('Name,Email\n"A,a@x.example\nB,b@x.example', { project: 'demir' })
    expect(damaged.status).toBe(422)
    expect((await damaged.json()).errors[0].path).toBe('file')
    expect(await hub.query('select from hub.imports')).toHaveLength(before.length)
    expect(await readdir(join(hub.paths.data_dir, 'imports'))).toEqual([])
    // Its files are nobody else's business.
    const { mode } = await stat(join(hub.paths.data_dir, 'imports'))
    expect(mode & 0o007).toBe(0)
    for (const path of ['leads/imports/nothing', 'leads/imports/nothing/errors']) {
      expect((await hub.call('GET', path)).status).toBe(404)
    }
  })
})
