import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filesIn, findFiles, redactFiles, textOf } from '../../../hub/people/people-files.ts'
import { matcherOf } from '../../../hub/people/redact.ts'

const ada = matcherOf({ email: 'ada@x.example', names: ['Ada Lovelace'] })
let root: string
let folder: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'watchpost-files-'))
  folder = join(root, 'projects')
  await mkdir(join(folder, 'demir/docs'), { recursive: true })
  const outside = join(root, 'outside.md')
  await writeFile(outside, 'Ada Lovelace')
  await symlink(outside, join(folder, 'demir/link.md'))
  const files: Record<string, string | Buffer> = {
    'demir/docs/b.md': 'Nobody.',
    'demir/docs/ada-lovelace-1.md': 'Nothing about her.',
    'demir/.hidden': 'ada@x.example',
    'demir/a.md': '\uFEFFAda Lovelace, '.repeat(7),
    'demir/ada-lovelace.pdf': Buffer.from([0xff, 0xfe, 0x00, 0xd8]),
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  await chmod(join(folder, 'demir/a.md'), 0o640)
})
afterAll(() => rm(root, { recursive: true, force: true }))

const FILES = ['.hidden', 'a.md', 'ada-lovelace.pdf', 'docs/ada-lovelace-1.md', 'docs/b.md']

test('every file of a folder is listed, hidden ones too, but no link; of no folder none', async () => {
  expect(await filesIn(folder)).toEqual(FILES.map((name) => join(folder, 'demir', name)))
  expect(await filesIn(join(root, 'gone'))).toEqual([])
  await expect(filesIn(join(root, 'outside.md'))).rejects.toMatchObject({ code: 'ENOTDIR' })
})

test('a text is read with its mark of order, and what is no text is told apart', async () => {
  expect(await textOf(join(folder, 'demir/docs/b.md'))).toBe('Nobody.')
  expect(await textOf(join(folder, 'demir/a.md'))).toMatch(/^\uFEFFAda/)
  expect(await textOf(join(folder, 'demir/ada-lovelace.pdf'))).toBeUndefined()
})

test('a person is found in texts and in names of files, also of those that are no text', async () => {
  const { found, unsearched } = await findFiles([folder, join(root, 'gone')], ada)
  expect(found.map(({ file, excerpts }) => [file, excerpts.length])).toEqual([
    ['projects/demir/.hidden', 1],
    ['projects/demir/a.md', 5],
    ['projects/demir/ada-lovelace.pdf', 1],
    ['projects/demir/docs/ada-lovelace-1.md', 1],
  ])
  expect(unsearched).toEqual(['projects/demir/ada-lovelace.pdf'])
})

test('a person goes from texts and names, and each file stays what it was', async () => {
  const untouched = await stat(join(folder, 'demir/docs/b.md'))
  expect(await redactFiles([folder], ada)).toBe(4)
  const left = (await readdir(folder, { recursive: true })).sort()
  expect(left).toEqual([
    ...['demir', 'demir/.hidden', 'demir/a.md', 'demir/docs', 'demir/docs/b.md'],
    ...['demir/docs/erased-1.md', 'demir/erased.pdf', 'demir/link.md'],
  ])
  expect(await readFile(join(folder, 'demir/a.md'), 'utf8')).toBe('\uFEFF[erased], '.repeat(7))
  expect((await stat(join(folder, 'demir/a.md'))).mode & 0o777).toBe(0o640)
  expect(await readFile(join(folder, 'demir/erased.pdf'))).toHaveLength(4)
  expect((await stat(join(folder, 'demir/docs/b.md'))).ino).toBe(untouched.ino)
  expect(await readFile(join(root, 'outside.md'), 'utf8')).toBe('Ada Lovelace')
  expect(await redactFiles([folder], ada)).toBe(0)
})
