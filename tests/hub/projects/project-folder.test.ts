import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { pathsIn } from '../../../hub/config.ts'
import {
  changeContext,
  folderOf,
  makeFolder,
  missingSections,
  parseContext,
  readContext,
  removeFolder,
} from '../../../hub/projects/project-folder.ts'

let root: string
let paths: ReturnType<typeof pathsIn>
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'watchpost-folder-'))
  paths = pathsIn(root)
})
afterAll(() => rm(root, { recursive: true, force: true }))

const NONE = {
  ...{ description: '', icp: '', value_proposition: '', tone: '', proof_points: '', offers: '' },
}
const file = () => join(folderOf(paths, 'demir'), 'CONTEXT.md')
const written = async (text: string) => {
  await mkdir(folderOf(paths, 'demir'), { recursive: true })
  await writeFile(file(), text)
}
beforeEach(() => removeFolder(paths, 'demir'))

test('only a short name becomes a folder', () => {
  for (const slug of ['ab', '1-', 'a'.repeat(41)]) {
    expect(folderOf(paths, slug)).toBe(join(paths.data_dir, 'projects', slug))
  }
  for (const slug of ['', 'a', 'a'.repeat(42), '-a', 'Ab', '..', 'a/b', 'ab\n', ' ab', 'ab/..']) {
    expect(() => folderOf(paths, slug), slug).toThrow('There is no such project.')
  }
})

test('a new folder has its places, and a text that was there stays under another name', async () => {
  await written('# By hand\n')
  await makeFolder(paths, 'demir', {
    ...NONE,
    title: ' Demir \n Lojistik ',
    description: ' Trucks\n# of all\n## kinds\n### and more ',
    offers: 'A trial.',
  })
  expect(await readFile(file(), 'utf8')).toBe(
    '# Demir Lojistik\n\n## Description\n\nTrucks\n### of all\n### kinds\n### and more\n\n## ICP\n\n\n\n' +
      '## Value proposition\n\n\n\n## Tone of voice\n\n\n\n## Proof points\n\n\n\n## Offers\n\nA trial.\n',
  )
  const names = (await readdir(folderOf(paths, 'demir'))).sort()
  const [former = ''] = names
  expect(names).toEqual([former, 'CONTEXT.md', 'docs', 'drafts', 'leads'])
  expect(former).toMatch(/^CONTEXT\.\d{13}\.md$/)
  expect(await readFile(join(folderOf(paths, 'demir'), former), 'utf8')).toBe('# By hand\n')
  expect((await stat(file())).mode & 0o777).toBe(0o640)
})

test('a project without a text has an empty one', async () => {
  expect(await readContext(paths, 'demir')).toBe('')
  expect(parseContext('')).toEqual({ title: '', ...NONE })
})

test.each<[string, string, Partial<ReturnType<typeof parseContext>>]>([
  [
    'in any order',
    '## Offers\nb\n\n# Demir \n## ICP\n\n a \n',
    { title: 'Demir', icp: 'a', offers: 'b' },
  ],
  ['with smaller headings', '## ICP\n### Who\nx\n#### Where\n', { icp: '### Who\nx\n#### Where' }],
  ['up to the next title', '## ICP\na\n# Other\nb\n', { icp: 'a', title: 'Other' }],
  ['with spaces behind its name', '## ICP \t\na', { icp: 'a' }],
  ['and none of a longer name', '## ICP of old\na\n## Offers!\nb', {}],
  ['and none within a line', 'see ## ICP\na\nthe # Title\n### ICP\nb', {}],
  ['without a title of its own', '## ICP\na # b\n', { icp: 'a # b' }],
])('a section is read %s', (_, text, found) => {
  expect(parseContext(text)).toEqual({ title: '', ...NONE, ...found })
})

test('what mails need and a project has not said is named, in its order', () => {
  const needed = ['value_proposition', 'tone', 'proof_points', 'offers']
  expect(missingSections('# Demir\n')).toEqual(needed)
  expect(missingSections('## Offers\nx\n## Tone of voice\n \n## Value proposition\nx')).toEqual([
    'tone',
    'proof_points',
  ])
})

test.each<[string, string, Parameters<typeof changeContext>[2], string]>([
  ['a title', '# Old\n\nx\n', { title: ' New \n $& one ' }, '# New $& one\n\nx\n'],
  ['a title that was not there', 'x # y\n', { title: 'New' }, '# New\n\nx # y\n'],
  [
    'a section',
    '# T\n\n## ICP\n\nold\n### more\n\n## Mine\n\nkept\n',
    { icp: ' $1\n# new ' },
    '# T\n\n## ICP\n\n$1\n### new\n\n## Mine\n\nkept\n',
  ],
  ['the last section', '## ICP\nold', { icp: 'new' }, '## ICP\n\nnew\n'],
  ['a section before a title', '## ICP \nold\n# T\n', { icp: 'new' }, '## ICP\n\nnew\n\n# T\n'],
  [
    'sections that were not there',
    '# T\n\n\n',
    { icp: 'a', offers: 'b' },
    '# T\n\n## ICP\n\na\n\n## Offers\n\nb\n',
  ],
  ['a section to nothing', '# T\n\n## ICP\n\nold\n', { icp: '' }, '# T\n\n## ICP\n'],
  ['nothing', '# T\n\n## ICP\n\nold\n\n\n', {}, '# T\n\n## ICP\n\nold\n'],
])('a change of %s leaves the rest as it is', async (_, before, change, after) => {
  await written(before)
  await changeContext(paths, 'demir', change)
  expect(await readContext(paths, 'demir')).toBe(after)
})
