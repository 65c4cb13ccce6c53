import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  documentPath,
  listIn,
  PathError,
  pdfOf,
  resolveIn,
} from '../../../hub/projects/documents.ts'
import * as markdown from '../../../hub/projects/markdown.ts'

/** Every letter a PDF says it shows: the Unicode tables of its fonts. */
function lettersOf(pdf: Uint8Array): string {
  const bytes = Buffer.from(pdf)
  const text = bytes.toString('latin1')
  let letters = ''
  for (const { index } of text.matchAll(/stream\r?\n/g)) {
    const begin = text.indexOf('\n', index) + 1
    const end = text.indexOf('endstream', begin)
    let inner: string
    try {
      inner = inflateSync(bytes.subarray(begin, end)).toString('latin1')
    } catch {
      continue
    }
    if (!inner.includes('beginbfrange') && !inner.includes('beginbfchar')) continue
    for (const [, code] of inner.matchAll(/<([0-9a-f]{4})>/gi)) {
      letters += String.fromCharCode(Number.parseInt(code ?? '0', 16))
    }
  }
  return letters
}

describe('a document as PDF', () => {
  test('has every Turkish letter, in headings, tables, lists and code', async () => {
    const text = markdown.joined(
      markdown.heading(1, 'GİZLİLİK: ĞÜŞİÖÇ'),
      '**kalın ığüşöç** ve *eğik şey*',
      markdown.table(['Ürün', 'Tutar'], [['Çağrı', '1.250,50 ₺']], [1]),
      markdown.list(['İstanbul', 'Şişli']),
      markdown.tasks([{ text: 'Ğ', is_done: true }]),
      markdown.fenced('select ı', 'sql'),
    )
    const letters = lettersOf(await pdfOf(text, { title: 'Gizlilik', brand: { name: 'Örnek' } }))
    for (const letter of 'ĞÜŞİÖÇğüşıöç₺') expect(letters, letter).toContain(letter)
  })

  test('says below each page who made it, where they are, and which page of how many it is', async () => {
    const brand = { name: 'Жар', postal_address: 'Ωmega' }
    const letters = lettersOf(await pdfOf('x', { title: 'x', brand }))
    for (const letter of 'ЖарΩmega·1/') expect(letters, letter).toContain(letter)
    const unnamed = lettersOf(await pdfOf('x', { title: 'x' }))
    expect(unnamed).toContain('/')
    expect(unnamed).not.toContain('·')
  })

  test('takes HTML, pictures and links for text: nothing is fetched', async () => {
    const pdf = await pdfOf(
      '# x\n\n<script>alert(1)</script>\n\n![x](file:///etc/passwd) ![y](http://127.0.0.1:1/x.png) [z](javascript:alert(1))\n',
      { title: 'x' },
    )
    const text = Buffer.from(pdf).toString('latin1')
    expect(text).not.toMatch(/\/URI|\/JavaScript|\/Subtype \/Image|\/Annot/)
  })
})

test('text of a model or a lead is escaped from Markdown and HTML', () => {
  for (const text of [
    '<img src=x onerror=alert(1)>',
    '# heading',
    '- list',
    '1. list',
    '> quote',
    '[link](javascript:x)',
    '| cell',
    '**bold** `code`',
    '&lt;script&gt;',
    'a\n\n# b',
  ]) {
    const plain = markdown.plain(text)
    expect(plain, text).not.toMatch(/(?<!\\)[<>[\]`*|#]/)
    expect(plain).not.toContain('\n')
    expect(plain).not.toMatch(/^(-|\d+\.)\s/)
    expect(plain).not.toMatch(/(?<!\\)&/)
  }
  expect(markdown.fenced('```\n# out', 'sql')).toMatch(/^````sql\n/)
})

test.each([
  ['a\n\n  b\tc ', 'a b c'],
  ['\\ ` * _ [ ] < > | # ~', '\\\\ \\` \\* \\_ \\[ \\] \\< \\> \\| \\# \\~'],
  ['&lt; &#60; &LT; A & B &2', '\\&lt; &\\#60; \\&LT; A & B &2'],
  ['- a', '\\- a'],
  ['+ a', '\\+ a'],
  ['-', '\\-'],
  ['---', '\\---'],
  ['===', '\\==='],
  // A backslash before a digit would be shown.
  ['12. a', '12\\. a'],
  ['12) a', '12\\) a'],
  ['3.', '3\\.'],
  ['1.5 t', '1.5 t'],
  ['-5 °C', '-5 °C'],
  ['a - b 1. c', 'a - b 1. c'],
])('%j is plain as %j', (text, plain) => {
  expect(markdown.plain(text)).toBe(plain)
})

test('lists, tasks, quotes and tables are Markdown around plain text', () => {
  expect(markdown.heading(2, 'A *b*')).toBe('## A \\*b\\*')
  expect(markdown.list(['one', 't_w_o'])).toBe('- one\n- t\\_w\\_o')
  expect(markdown.numbered(['one', '#two'])).toBe('1. one\n2. \\#two')
  const tasks = [
    { text: 'call', is_done: true },
    { text: 'write', is_done: false },
  ]
  expect(markdown.tasks(tasks)).toBe('- [x] call\n- [ ] write')
  expect(markdown.quote('a\nb')).toBe('> a b')
  const rows = [
    ['a|b', 1],
    [null, 20],
  ]
  expect(markdown.table(['Name', 'Points'], rows, [1])).toBe(
    '| Name | Points |\n| --- | ---: |\n| a\\|b | 1 |\n|  | 20 |',
  )
  expect(markdown.joined('a', false, undefined, '', 'b')).toBe('a\n\nb\n')
  expect(markdown.fenced('x')).toBe('```\nx\n```')
})

test('a path is made of any title and stays in docs', () => {
  const id = '12345678-0000-4000-8000-000000000000'
  expect(documentPath('İş Planı: 2027 / Ğ', id)).toBe('docs/is-plani-2027-g-12345678.md')
  expect(documentPath('../../etc/passwd', id)).toBe('docs/etc-passwd-12345678.md')
  expect(documentPath('🙂', id, 'patch')).toBe('docs/document-12345678.patch')
})

test('a file is found in the folders of its project alone, also through links', async () => {
  const above = await mkdtemp(join(tmpdir(), 'watchpost-documents-'))
  try {
    const folder = join(above, 'demir')
    for (const path of ['demir/docs/sub', 'demir-old/docs', 'demir/secret']) {
      await mkdir(join(above, path), { recursive: true })
    }
    await symlink(join(above, 'demir-old', 'docs'), join(folder, 'docs', 'old'))
    await symlink(join(folder, 'secret'), join(folder, 'docs', 'inside'))
    const deep = (segments: number) => ['docs', ...Array(segments - 1).fill('a')].join('/')
    for (const path of [
      ...['CONTEXT.md', 'docs/sub/new.md', deep(8), `docs/${'a'.repeat(120)}`],
      `docs/${'字'.repeat(85)}`,
    ]) {
      expect(await resolveIn(folder, path), path).toBe(join(folder, path))
    }
    for (const path of [
      ...['docs', 'secret/x.md', 'docs/../secret/x.md', 'docs/.x.md', 'docs//x.md', '/docs/x.md'],
      ...['docs/old/x.md', 'docs/inside/x.md', deep(9), `docs/${'a'.repeat(121)}`],
      `docs/a${'字'.repeat(85)}`,
    ]) {
      await expect(resolveIn(folder, path), path).rejects.toThrow(PathError)
    }
  } finally {
    await rm(above, { recursive: true })
  }
})

test('a folder is listed as far as its files can be asked for: 1000 of them, without hidden ones and links', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-documents-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const put = async (path: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), 'x')
  }
  const deep = (folders: number) => ['docs', ...Array(folders).fill('a'), 'x.md'].join('/')
  const hidden = ['docs/.x.md', 'docs/.git/x.md', 'drafts/x.md', deep(7)]
  for (const path of ['docs/b.md', deep(6), deep(1), ...hidden]) await put(path)
  await symlink(join(folder, 'drafts/x.md'), join(folder, 'docs/link.md'))
  await symlink(join(folder, 'drafts'), join(folder, 'docs/linked'))
  const listed = await listIn(folder, 'docs')
  expect(listed).toEqual([deep(6), deep(1), 'docs/b.md'])
  for (const path of listed) expect(await resolveIn(folder, path)).toBe(join(folder, path))
  expect(await listIn(folder, 'code')).toEqual([])
  // As people and macOS call them; a name that nobody can ask for is not listed.
  const names = [
    "code/Ada’s 'plan'.md",
    'code/Ar & Ge, 1–2.md',
    'code/Go\u0308ru\u0308s\u0327me.md',
  ]
  for (const path of [...names, 'code/a:b.md', 'code/-x.md']) await put(path)
  expect((await listIn(folder, 'code')).toSorted()).toEqual(names)
  for (const path of names) expect(await resolveIn(folder, path)).toBe(join(folder, path))
  await Promise.all(Array.from({ length: 1001 }, (_, at) => put(`leads/${at}.csv`)))
  expect(await listIn(folder, 'leads')).toHaveLength(1000)
})
