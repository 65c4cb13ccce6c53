import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IMPORT_FIELDS } from '../../../hub/leads/import-row.ts'
import { prepareImport, previewFile } from '../../../hub/leads/imports.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { CSV } from '../support/import-calls.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.close())

describe('a preview', () => {
  const preview = async (csv: string | Uint8Array) => {
    const answer = await hub.call('POST', 'leads/import_preview?file_name=fair.csv', csv, CSV)
    return { status: answer.status, body: await answer.json() }
  }

  test.each([
    [
      'Ad Soyad;E-posta Adresi;Firma Ünvanı;Görevi;Cep Telefonu;Web Sitesi;Ülke;Notlar',
      {
        name: 'Ad Soyad',
        email: 'E-posta Adresi',
        company: 'Firma Ünvanı',
        title: 'Görevi',
        phone: 'Cep Telefonu',
        website: 'Web Sitesi',
        country: 'Ülke',
        note: 'Notlar',
      },
    ],
    [
      'First Name,Last Name,Work Email,Company Name,Job Title,Tags,Lead Score',
      {
        first_name: 'First Name',
        last_name: 'Last Name',
        email: 'Work Email',
        company: 'Company Name',
        title: 'Job Title',
        tags: 'Tags',
        score: 'Lead Score',
      },
    ],
    ['Ticari Unvan;Yetkili;Görevi', { company: 'Ticari Unvan', name: 'Yetkili', title: 'Görevi' }],
    [
      'Şirketin tam ticari ünvanı;Yetkili Kişi;Ünvanı',
      { company: 'Şirketin tam ticari ünvanı', name: 'Yetkili Kişi', title: 'Ünvanı' },
    ],
    ['Ad,Şirket,Unvan,Durum', { name: 'Ad', company: 'Şirket', title: 'Unvan', stage: 'Durum' }],
    ['Adı,Soyadı,EPOSTA', { first_name: 'Adı', last_name: 'Soyadı', email: 'EPOSTA' }],
    ['id,name', { name: 'name' }],
    ['name,name,', { name: 'name' }],
  ])('%s is understood', async (header, mapping) => {
    const { body } = await preview(`${header}\n${header}`)
    expect(body.mapping).toEqual(mapping)
    expect(body.file).toBe('fair.csv')
  })

  test('shows encoding, delimiter, unique headers and the first rows, and writes nothing', async () => {
    const rows = Array.from({ length: 9 }, (_, n) => `"a ""${n}""";b;c`)
    const { body } = await preview(`X;X;\n${rows.join('\n')}`)
    expect(body).toMatchObject({
      encoding: 'utf-8',
      delimiter: ';',
      columns: ['X', 'X (2)', '#3'],
      rows: Array.from({ length: 5 }, (_, n) => [`a "${n}"`, 'b', 'c']),
      fields: [...IMPORT_FIELDS],
      facts: ['X', 'X (2)', '#3'],
      max_facts: 40,
      own: [],
    })
    expect(await hub.query('select from hub.imports')).toHaveLength(0)
  })

  test('an empty file, another type, and a foreign form are refused', async () => {
    expect((await preview('')).status).toBe(422)
    expect((await preview(' , ,\nx')).status).toBe(422)
    const json = await hub.call('POST', 'leads/import_preview', { a: 1 })
    expect(json.status).toBe(415)
    expect((await hub.call('POST', 'leads/import_preview?colour=red', 'a', CSV)).status).toBe(400)
    const large = await hub.call('POST', 'leads/import_preview', 'x'.repeat(21 * 1024 * 1024), CSV)
    expect(large.status).toBe(413)
  })

  test('of a form that is damaged says so, and of one with a mistake which field it is', async () => {
    const form = (body: string) =>
      hub.call('POST', 'leads/import_preview', body, {
        'content-type': 'multipart/form-data; boundary=x',
      })
    const damaged = await form('--x\r\nno header')
    expect(damaged.status).toBe(400)
    expect(await damaged.json()).toMatchObject({
      code: 'malformed',
      detail: 'The form is damaged. Send it again.',
    })
    const tags = '--x\r\nContent-Disposition: form-data; name="tags"\r\n\r\na\r\n'
    const twice = await form(`${tags}${tags}--x--\r\n`)
    expect(twice.status).toBe(422)
    expect(await twice.json()).toMatchObject({
      code: 'invalid',
      errors: [{ path: 'file' }, { path: 'tags' }],
    })
  })
})

describe('an upload', () => {
  beforeAll(async () => {
    await hub.query(
      `insert into hub.projects (slug, name, created_at)
       values ('demir', 'Demir', now() - interval '1 day'), ('other', 'Other', now())`,
    )
  })
  const send = async (path: string, fields: Record<string, string | File>) => {
    const body = new FormData()
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    const request = new Request('http://hub', { method: 'POST', body })
    const answer = await hub.call(
      'POST',
      `leads/${path}`,
      new Uint8Array(await request.arrayBuffer()),
      { 'content-type': request.headers.get('content-type') ?? '' },
    )
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }
  const file = (name: string) => new File(['Name,Trucks\nAda,4\n'], name)
  const bare = (query: Record<string, string>, type = 'text/csv') =>
    hub.call('POST', `leads/import_preview?${new URLSearchParams(query)}`, 'Name\nA', {
      'content-type': type,
    })

  test.each([
    ['lists/fair.csv', 'fair.csv'],
    ['C:\\lists\\fair.csv', 'fair.csv'],
    [' fair\u0007.csv ', 'fair.csv'],
    ['x'.repeat(151), 'x'.repeat(150)],
    ['lists/', 'leads.csv'],
    [' ', 'leads.csv'],
  ])('named %j is shown as %s', async (file_name, shown) => {
    expect((await (await bare({ file_name })).json()).file).toBe(shown)
  })

  test('without a name is leads.csv, and in a form has the name of its file', async () => {
    expect((await (await bare({})).json()).file).toBe('leads.csv')
    const { body } = await send('import_preview?file_name=query.csv', { file: file('own.csv') })
    expect(body).toMatchObject({ file: 'own.csv', columns: ['Name', 'Trucks'] })
  })

  test('is shown with the own fields of its project, which is the active one unless it is named', async () => {
    const own = { key: 'trucks', label: 'Trucks', kind: 'number', choices: [] }
    expect((await hub.call('GET', 'leads/fields')).status).toBe(200)
    const set = { project: 'demir', fields: [own] }
    expect((await hub.call('PUT', 'leads/fields', set)).status).toBe(200)
    const shown = async (query: string) =>
      (await send(`import_preview${query}`, { file: file('fair.csv') })).body
    const known = { own: [own], facts: [], mapping: { name: 'Name', 'custom.trucks': 'Trucks' } }
    expect(await shown('?project=demir')).toMatchObject(known)
    expect(await shown('')).toMatchObject(known)
    expect(await shown('?project=other')).toMatchObject({ own: [], facts: ['Trucks'] })
    expect(await shown('?project=nobody')).toMatchObject({ own: [] })
  })

  test.each(['text/csv;charset=utf-8', 'TEXT/CSV', 'text/csv ; header=present'])(
    'may be of the type %s',
    async (type) => {
      expect((await bare({}, type)).status).toBe(200)
    },
  )

  test.each([
    'text/csvs',
    'x-text/csv',
    'application/json',
    'multipart/form-data2',
    'text/plain',
    '',
  ])('of the type "%s" is refused, and told which to use', async (type) => {
    const refused = await bare({}, type)
    expect(refused.status).toBe(415)
    expect(await refused.json()).toMatchObject({
      code: 'unsupported_media_type',
      detail: 'Send the file as text/csv or in a form.',
    })
  })

  test.each([
    [{ mapping: '{' }, { path: 'mapping', code: 'malformed', message: 'The mapping is not valid' }],
    [{ facts: '[' }, { path: 'facts', code: 'malformed', message: 'The list of columns is not' }],
  ])('with %j names the field and what is wrong with it', async (query, { message, ...issue }) => {
    const refused = await bare(query)
    expect(refused.status).toBe(422)
    expect((await refused.json()).errors).toMatchObject([
      { ...issue, message: expect.stringContaining(message) },
    ])
  })

  test('in a form needs a file, and its fields count, empty ones as if they were absent', async () => {
    const none = await send('import_preview', { file: 'Name' })
    expect(none.body.errors).toEqual([
      { path: 'file', code: 'required', message: 'Choose a file.' },
    ])
    const taken = await send('import', {
      file: file('one.csv'),
      ...{
        project: 'demir',
        encoding: '',
        mapping: '',
        duplicates: '',
        tags: 'a, ,b',
        facts: '[]',
      },
    })
    expect(taken.status, JSON.stringify(taken.body)).toBe(202)
    expect(taken.body.import).toMatchObject({ project: 'demir', file: 'one.csv', facts: [] })
    expect(taken.headers.get('location')).toBe(`/api/cockpit/leads/imports/${taken.body.import.id}`)
    const [stored] = await hub.query<{ options: object }>('select options from hub.imports')
    expect(stored?.options).toMatchObject({ tags: ['a', 'b'], duplicates: 'skip' })
  })

  test('is listed with those of its project, newest first, up to 50', async () => {
    await hub.query(
      `insert into hub.imports (project_id, file, options, total, created_at)
       select id, slug || n, '{}', 1, now() + make_interval(secs => n)
       from hub.projects, generate_series(1, 50) as n where slug = 'demir' or n = 1`,
    )
    const files = async (query: string) => {
      const { imports } = await (await hub.call('GET', `leads/imports${query}`)).json()
      return imports.map((one: { file: string }) => one.file)
    }
    const newest = Array.from({ length: 50 }, (_, n) => `demir${50 - n}`)
    expect(await files('?project=demir')).toEqual(newest)
    expect(await files('?project=other')).toEqual(['other1'])
    await hub.call('POST', 'projects/select', { slug: 'other' })
    expect(await files('')).toEqual(['other1'])
    expect((await hub.call('GET', 'leads/imports?project=nobody')).status).toBe(404)
  })
})

describe('what somebody has chosen for a file', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)

  test('counts, whatever the file looks like', () => {
    const { columns, rows } = previewFile(bytes('Name;Note;x,more\nJo;a;b,c\n'), {
      delimiter: ',',
    })
    expect({ columns, rows }).toEqual({ columns: ['Name;Note;x', 'more'], rows: [['Jo;a;b', 'c']] })
  })

  test('maps columns of the file to fields of the project alone', async () => {
    const fleet = { key: 'fleet', label: 'Fleet', kind: 'number' as const, choices: [] }
    const prepare = (mapping: object, own = [fleet]) =>
      prepareImport(bytes('Name,Trucks\nJo,4\n'), { duplicates: 'skip', mapping }, own)
    const mapping = { name: 'Name', 'custom.fleet': 'Trucks' }
    expect(await prepare(mapping)).toMatchObject({ total: 1 })
    const refused = (path: string, said: RegExp) => ({
      issues: [{ path, message: { en: expect.stringMatching(said) } }],
    })
    await expect(prepare(mapping, [])).rejects.toMatchObject(
      refused('mapping.custom.fleet', /fleet/),
    )
    await expect(prepare({ ...mapping, phone: 'Tel' })).rejects.toMatchObject(
      refused('mapping.phone', /Tel/),
    )
  })

  test('as a legitimate interest needs its reasons', async () => {
    const prepare = (more: object) =>
      prepareImport(bytes('Name\nJo\n'), {
        ...{ duplicates: 'skip', lawful_basis: 'legitimate_interest', ...more },
      })
    const issues = [expect.objectContaining({ path: 'basis_note' })]
    await expect(prepare({})).rejects.toMatchObject({ issues })
    expect(await prepare({ basis_note: 'They asked.' })).toMatchObject({ total: 1 })
  })
})
