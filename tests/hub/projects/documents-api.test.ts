import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startHub, type TestHub } from '../support/hub.ts'
import { makeProject, putFile } from '../support/mission-help.ts'

let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
  await makeProject(hub)
})
afterAll(() => hub.close())

const ask = (call: string, query: Record<string, string> = {}, headers = {}) =>
  hub.call(
    'GET',
    `documents/${call}?${new URLSearchParams({ project: 'rota', ...query })}`,
    undefined,
    headers,
  )
const read = async (path: string) => (await (await ask('get', { path })).json()).document

test('the files of a project are listed newest first, each with its size in bytes', async () => {
  const names = ['docs/first.md', 'leads/third.csv', 'drafts/second.md', 'code/fourth.patch']
  for (const path of names) await putFile(hub, path, 'ığü')
  const times = ['00:01', '00:03', '00:02', '00:04']
  for (const [index, path] of names.entries()) {
    const time = new Date(`2026-01-01T${times[index]}:00.000Z`)
    await utimes(join(hub.paths.data_dir, 'projects/rota', path), time, time)
  }
  await putFile(hub, 'docs/.hidden.md', 'x')
  expect((await (await ask('list')).json()).documents).toEqual([
    { path: 'code/fourth.patch', bytes: 6, modified_at: '2026-01-01T00:04:00.000Z' },
    { path: 'leads/third.csv', bytes: 6, modified_at: '2026-01-01T00:03:00.000Z' },
    { path: 'drafts/second.md', bytes: 6, modified_at: '2026-01-01T00:02:00.000Z' },
    { path: 'docs/first.md', bytes: 6, modified_at: '2026-01-01T00:01:00.000Z' },
  ])
})

test('a document is titled by its first heading as people read it, otherwise by its name', async () => {
  const titles = {
    'docs/titled.md': ['Preface\n\n# A \\*b\\* \\# c\n\n# Other\n', 'A *b* # c'],
    'docs/untitled.md': ['## Only a part\n#not a heading\ntext # inside\n', 'untitled.md'],
    'docs/inside.md': [`${'x'.repeat(1996)}\n# A\n`, 'A'],
    'docs/late.md': [`${'x'.repeat(1997)}\n# A\n`, 'late.md'],
  }
  for (const [path, [text = '', title]] of Object.entries(titles)) {
    await putFile(hub, path, text)
    const found = await read(path)
    expect(found, path).toMatchObject({ path, title, text, bytes: text.length })
  }
})

test('a download is an attachment under its own name, whatever the file contains', async () => {
  await putFile(hub, 'docs/Teklif (İzmir).md', '# Teklif\n\n<script>alert(1)</script>\n')
  const file = await ask('download', { path: 'docs/Teklif (İzmir).md' })
  expect(file.status).toBe(200)
  expect(Object.fromEntries(file.headers)).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': `attachment; filename="Teklif___zmir_.md"; filename*=UTF-8''Teklif%20(%C4%B0zmir).md`,
    'x-content-type-options': 'nosniff',
  })
  expect(await file.text()).toBe('# Teklif\n\n<script>alert(1)</script>\n')
  const pdf = await ask('download', { path: 'docs/Teklif (İzmir).md', format: 'pdf' })
  expect(pdf.status).toBe(200)
  expect(Object.fromEntries(pdf.headers)).toMatchObject({
    'content-type': 'application/pdf',
    'content-disposition': `attachment; filename="Teklif___zmir_.pdf"; filename*=UTF-8''Teklif%20(%C4%B0zmir).pdf`,
    'x-content-type-options': 'nosniff',
  })
  const bytes = Buffer.from(await pdf.arrayBuffer()).toString('latin1')
  expect(bytes.slice(0, 5)).toBe('%PDF-')
})

test('only Markdown of at most 400,000 characters becomes a PDF', async () => {
  const comment = (length: number) => `<!--${'x'.repeat(length - 8)}-->\n`
  await putFile(hub, 'docs/most.md', comment(400_000))
  await putFile(hub, 'docs/more.md', comment(400_001))
  await putFile(hub, 'leads/table.md.csv', '# x\n')
  const status = async (path: string, format: string) => {
    const answer = await ask('download', { path, format })
    return [answer.status, answer.ok ? '' : (await answer.json()).detail]
  }
  expect(await status('docs/most.md', 'pdf')).toEqual([200, ''])
  expect(await status('docs/more.md', 'file')).toEqual([200, ''])
  const refused = [404, 'There is no such PDF of this file.']
  expect(await status('docs/more.md', 'pdf')).toEqual(refused)
  expect(await status('leads/table.md.csv', 'pdf')).toEqual(refused)
})

test('what is no file, is too large, leads out or belongs to no project is not there', async () => {
  const folder = join(hub.paths.data_dir, 'projects/rota/docs')
  await mkdir(join(folder, 'folder.md'), { recursive: true })
  await writeFile(join(folder, 'most.txt'), 'x'.repeat(2_000_000))
  await writeFile(join(folder, 'more.txt'), 'x'.repeat(2_000_001))
  await symlink('/etc/passwd', join(folder, 'link.md'))
  expect((await read('docs/most.txt')).bytes).toBe(2_000_000)
  const absent = [
    'docs/folder.md',
    'docs/more.txt',
    'docs/link.md',
    'docs/none.md',
    'docs/../../../hub.json',
    '/etc/passwd',
    'docs',
  ]
  for (const path of absent) {
    for (const call of ['get', 'download']) {
      const answer = await ask(call, { path })
      expect(answer.status, `${call} ${path}`).toBe(404)
      expect((await answer.json()).detail).toBe('There is no such file in this project.')
    }
  }
  for (const call of ['list', 'get', 'download']) {
    const none = await ask(call, {
      project: 'nobody',
      ...(call === 'list' ? {} : { path: 'docs/x' }),
    })
    expect(none.status, call).toBe(404)
    expect((await none.json()).detail).toContain('There is no project "nobody"')
  }
})

test('a document is found by its words, changed by whoever read it last, and deleted by its name', async () => {
  await putFile(hub, 'docs/tea.md', '# Çay\n\nIşık Lojistik ships TEA.\n')
  const found = async (q: string) =>
    (await (await ask('list', { q })).json()).documents.map(({ path }: { path: string }) => path)
  expect(await found('isik tea')).toEqual(['docs/tea.md'])
  expect(await found('isik coffee')).toEqual([])
  const post = (call: string, body: object) =>
    hub.call('POST', `documents/${call}`, { project: 'rota', path: 'docs/tea.md', ...body })
  const { modified_at } = await read('docs/tea.md')
  const save = (text: string) => post('save', { text, modified_at })
  const saved = await save('# Kahve\n')
  expect((await saved.json()).document).toMatchObject({ title: 'Kahve', text: '# Kahve\n' })
  const late = await save('# Other\n')
  expect([late.status, (await read('docs/tea.md')).text]).toEqual([409, '# Kahve\n'])
  for (const path of ['code/x.patch', 'docs/tea.md.bak', 'docs/tea.mdx']) {
    expect((await post('save', { path, text: '', modified_at })).status, path).toBe(409)
  }
  expect((await post('save', { path: '../x.md', text: '', modified_at })).status).toBe(404)
  const now = await read('docs/tea.md')
  const sized = (length: number) =>
    post('save', { text: 'x'.repeat(length), modified_at: now.modified_at })
  expect([(await sized(500_001)).status, (await sized(500_000)).status]).toEqual([422, 200])
  const unlike = await post('delete', { confirm: 'tea' })
  expect(unlike.status).toBe(422)
  expect((await unlike.json()).errors).toMatchObject([{ path: 'confirm', code: 'mismatch' }])
  expect((await post('delete', { path: 'CONTEXT.md', confirm: 'CONTEXT.md' })).status).toBe(404)
  expect((await post('delete', { confirm: 'tea.md' })).status).toBe(200)
  expect((await ask('get', { path: 'docs/tea.md' })).status).toBe(404)
  for (const path of ['docs/tea.md', 'docs/folder.md']) {
    expect((await post('delete', { path, confirm: path.slice(5) })).status, path).toBe(404)
  }
})

async function upload(
  files: [name: string, content: string][],
  query: Record<string, string> = {},
  type?: string,
) {
  const form = new FormData()
  for (const [name, content] of files) form.append('file', new File([content], name))
  form.append('note', 'no file')
  const request = new Request('http://hub', { method: 'POST', body: form })
  const path = `documents/upload?${new URLSearchParams({ project: 'rota', ...query })}`
  const answer = await hub.call('POST', path, new Uint8Array(await request.arrayBuffer()), {
    'content-type': type ?? request.headers.get('content-type') ?? '',
  })
  return { status: answer.status, body: await answer.json() }
}

test('code is uploaded into a folder, and replaced only where that is said', async () => {
  const { limits } = await (await hub.call('GET', 'documents/upload_limits')).json()
  expect(limits).toEqual({
    ...{ upload_bytes: 20_971_520, file_bytes: 1_048_576, files: 1000 },
    ...{ archive_entries: 500, unpacked_bytes: 20_971_520, ratio: 100 },
  })
  const saved = (path: string, bytes: number, is_replaced = false) => ({ path, bytes, is_replaced })
  const two = await upload([
    ['up.ts', 'one'],
    ['up.js', 'x'],
  ])
  expect(two).toEqual({
    status: 200,
    body: { saved: [saved('code/up.ts', 3), saved('code/up.js', 1)], refused: [] },
  })
  const unsaid: Record<string, string>[] = [{}, { replace: 'false' }]
  for (const query of unsaid) {
    expect((await upload([['up.ts', 'other']], query)).body).toMatchObject({
      saved: [],
      refused: [{ path: 'up.ts', why: expect.stringContaining('exists') }],
    })
  }
  const replaced = await upload([['up.ts', 'other']], { replace: 'true' })
  expect(replaced.body.saved).toEqual([saved('code/up.ts', 5, true)])
  const below = await upload([['up.ts', 'new']], { folder: 'shop/api' })
  expect(below.body.saved).toEqual([saved('code/shop/api/up.ts', 3)])
})

test.each<[what: string, query: Record<string, string>, type: string | undefined, said: object]>([
  ['without a file', {}, undefined, { status: 422, errors: [{ path: 'file', code: 'required' }] }],
  [
    'into a folder outside',
    { folder: '../docs' },
    undefined,
    { status: 422, errors: [{ path: 'folder', code: 'invalid' }] },
  ],
  ['of no form', {}, 'text/plain', { status: 415, detail: expect.stringMatching(/multipart/) }],
  ['of another form', {}, 'x-multipart/form-data', { status: 415 }],
  ['of a form by a longer name', {}, 'multipart/form-data2', { status: 415 }],
  ['into no project', { project: 'nobody' }, undefined, { status: 404 }],
  ['that replaces perhaps', { replace: 'yes' }, undefined, { status: 400 }],
])('an upload of code %s is refused', async (what, query, type, said) => {
  const { body } = await upload(what === 'without a file' ? [] : [['x.ts', 'x']], query, type)
  expect(body).toMatchObject(said)
})
