import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

describe('what somebody has chosen for a file', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)

  test('counts, whatever the file looks like', () => {
    const { columns, rows } = previewFile(bytes('Name;Note;x,more\nJo;a;b,c\n'), {
      delimiter: ',',
    })
    expect({ columns, rows }).toEqual({ columns: ['Name;Note;x', 'more'], rows: [['Jo;a;b', 'c']] })
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
