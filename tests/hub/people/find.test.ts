import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readablePage, staysOf } from '../../../hub/people/find.ts'

/** What is between the headline and the end of the page. */
const bodyOf = (parts: Record<string, unknown>) =>
  /<\/h1>\n([\s\S]*)\n<\/body><\/html>\n$/.exec(readablePage('Person', parts))?.[1]

test.each<[what: string, value: unknown, html: string]>([
  ['a text', 'Tea & talk', '<p>Tea &amp; talk</p>'],
  ['nothing', null, '<p>null</p>'],
  ['a number', 0, '<p>0</p>'],
  ['a list', ['a', 'b'], '<p>a</p><p>b</p>'],
  ['an empty list', [], ''],
  [
    'an object, without what is empty',
    { name: 'Jo', note: '', phone: null, calls: 0, vip: false },
    '<dl><dt>name</dt><dd>Jo</dd><dt>calls</dt><dd>0</dd><dt>vip</dt><dd>false</dd></dl>',
  ],
  [
    'an object in an object',
    { lead: { tags: ['a', { b: 1 }] } },
    '<dl><dt>lead</dt><dd><dl><dt>tags</dt><dd><p>a</p><dl><dt>b</dt><dd>1</dd></dl></dd></dl></dd></dl>',
  ],
  [
    'markup',
    { '<i>': '<script>"x"</script>' },
    '<dl><dt>&lt;i&gt;</dt><dd>&lt;script&gt;&quot;x&quot;&lt;/script&gt;</dd></dl>',
  ],
])('the page to send to a person shows %s', (_, value, html) => {
  expect(bodyOf({ leads: value })).toBe(`<h2>leads</h2>${html}`)
})

test('the page names its parts and the person, whatever they are called', () => {
  const page = readablePage('<b>@x.example', { '<u>': 'x', mails: [] })
  expect(page).toContain('<title>&lt;b&gt;@x.example</title>')
  expect(page).toContain('<h1>&lt;b&gt;@x.example</h1>')
  expect(page).toContain('<meta charset="utf-8">')
  expect(bodyOf({ '<u>': 'x', mails: [] })).toBe('<h2>&lt;u&gt;</h2><p>x</p>\n<h2>mails</h2>')
})

test('what an erasure leaves is said with the numbers of backups, archives and other places', async () => {
  const data_dir = await mkdtemp(join(tmpdir(), 'watchpost-stays-'))
  try {
    const said = async (unsearched: number, texts: number) =>
      (await staysOf({ data_dir }, unsearched, texts)).map(({ en }) => en)
    const archives = (backups: number, deleted: number) =>
      expect.stringMatching(`^${backups} backups and ${deleted} archives of deleted projects`)
    const [hash, elsewhere] = [/^A salted hash/, /^Mail in your own/].map((one) =>
      expect.stringMatching(one),
    )
    const counts = expect.stringMatching(/^Numbers of mails/)
    expect(await said(0, 0)).toEqual([hash, counts, archives(0, 0), elsewhere])
    for (const file of ['backups/a.tar.gz', 'backups/b.tar.gz.age', 'backups/c.json']) {
      await mkdir(join(data_dir, 'backups'), { recursive: true })
      await writeFile(join(data_dir, file), '')
    }
    await mkdir(join(data_dir, 'archive'))
    await writeFile(join(data_dir, 'archive/demir.tar.gz'), '')
    const unsearched = expect.stringMatching(/^3 files in the project folders are not text/)
    const texts = expect.stringMatching(/^4 places in texts and files still name/)
    expect(await said(3, 4)).toEqual([hash, counts, archives(2, 1), unsearched, texts, elsewhere])
    await rm(join(data_dir, 'archive'), { recursive: true })
    await writeFile(join(data_dir, 'archive'), 'not a folder')
    await expect(said(0, 0)).rejects.toMatchObject({ code: 'ENOTDIR' })
  } finally {
    await rm(data_dir, { recursive: true, force: true })
  }
})
