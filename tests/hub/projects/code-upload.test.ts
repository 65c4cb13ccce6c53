import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ZipFile } from 'yazl'
import { CODE_LIMITS, folderIn, saveCode } from '../../../hub/projects/code-upload.ts'

let project: string
beforeEach(async () => {
  project = await mkdtemp(join(tmpdir(), 'watchpost-code-'))
})
afterEach(() => rm(project, { recursive: true, force: true }))

type File = [name: string, content: string | Buffer]
async function save(files: File[], { folder = 'code', replaces = false } = {}) {
  const given = files.map(([name, content]) => ({ name, bytes: Buffer.from(content) }))
  const { saved, refused } = await saveCode(given, { project, folder, replaces })
  return { saved, refused: refused.map(({ path, why }) => [path, why.en]) }
}
const read = (path: string) => readFile(join(project, path), 'utf8')
const no = (path: string, why: RegExp) => [path, expect.stringMatching(why)]

async function zipOf(entries: [string, string | Buffer][]): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [name, content] of entries) zip.addBuffer(Buffer.from(content), name)
  zip.end()
  return buffer(zip.outputStream)
}

test('an upload goes into a folder of the code, which is at most five deep and inside', async () => {
  expect(await folderIn(project, '')).toBe('code')
  expect(await folderIn(project, '/a//b c/')).toBe('code/a/b c')
  expect(await folderIn(project, 'a/b/c/d/e')).toBe('code/a/b/c/d/e')
  await expect(folderIn(project, 'a/b/c/d/e/f')).rejects.toThrow(/"a\/b\/c\/d\/e\/f" is not a/)
  for (const below of ['..', '.git', 'a/../b', 'a\0b', '-a']) {
    await expect(folderIn(project, below), below).rejects.toThrow()
  }
})

test('files and those of archives are written, and what is not has its reason', async () => {
  const link = new ZipFile()
  link.addBuffer(Buffer.from('/etc/passwd'), 'link', { mode: 0o120777 })
  link.end()
  const limit = CODE_LIMITS.file_bytes
  const done = await save(
    [
      ['a.ts', 'let a'],
      ['most.txt', 'x'.repeat(limit)],
      ['more.txt', 'x'.repeat(limit + 1)],
      ['latin.txt', Buffer.from([0x66, 0xfc, 0x72])],
      ['zero.txt', 'a\0b'],
      ['../out.ts', 'x'],
      ['a.ts', 'again'],
      ['cafe\u0301.md', 'x'],
      ['caf\u00e9.md', 'x'],
      [
        'all.zip',
        await zipOf([
          ['src/b.ts', 'let b'],
          ['inner.zip', await zipOf([['c.ts', 'x']])],
          ['big.txt', 'x'.repeat(limit + 1)],
        ]),
      ],
      ['link.zip', await buffer(link.outputStream)],
      ['bad.zip', Buffer.from('PK\x03\x04', 'latin1')],
    ],
    { folder: 'code/new' },
  )
  expect(done.saved).toEqual([
    { path: 'code/new/a.ts', bytes: 5, is_replaced: false },
    { path: 'code/new/most.txt', bytes: limit, is_replaced: false },
    { path: 'code/new/caf\u00e9.md', bytes: 1, is_replaced: false },
    { path: 'code/new/src/b.ts', bytes: 5, is_replaced: false },
  ])
  expect(done.refused).toEqual([
    no('more.txt', /^It has 1\.1 MB; a file has at most 1 MB/),
    no('latin.txt', /not UTF-8/),
    no('zero.txt', /not UTF-8/),
    no('../out.ts', /^Its path leads outside/),
    no('a.ts', /twice/),
    no('caf\u00e9.md', /twice/),
    no('inner.zip', /an archive inside an archive/),
    no('big.txt', /^It has 1\.1 MB; a file has at most 1 MB/),
    no('link', /^It is a link/),
    no('bad.zip', /^The archive is damaged/),
  ])
  expect(await read('code/new/a.ts')).toBe('let a')
  expect((await stat(join(project, 'code/new/src/b.ts'))).mode & 0o777).toBe(0o640)
})

test('what is there is replaced only if that is said, and never a folder or a link', async () => {
  await mkdir(join(project, 'code/folder'), { recursive: true })
  await writeFile(join(project, 'code/a.ts'), 'old')
  await writeFile(join(project, 'outside'), 'theirs')
  await symlink(join(project, 'outside'), join(project, 'code/link'))
  const files: File[] = ['a.ts', 'folder', 'a.ts/b.ts', 'link'].map((name) => [name, 'new'])
  const others = [
    no('folder', /in the way/),
    no('a.ts/b.ts', /in the way/),
    no('link', /^Its path leads outside/),
  ]
  expect(await save(files)).toEqual({ saved: [], refused: [no('a.ts', /exists/), ...others] })
  expect(await read('code/a.ts')).toBe('old')
  expect(await save(files, { replaces: true })).toEqual({
    saved: [{ path: 'code/a.ts', bytes: 3, is_replaced: true }],
    refused: others,
  })
  expect([await read('code/a.ts'), await read('outside')]).toEqual(['new', 'theirs'])
})

test('a name that no file can have is refused, and the others are written', async () => {
  // 120 letters of three bytes; and 78, which leave no room for what a draft adds to its name.
  const names = ['字'.repeat(120), '字'.repeat(78)]
  const done = await save([...names, 'a.ts'].map((name): File => [name, 'x']))
  expect(done.saved.map(({ path }) => path)).toEqual(['code/a.ts'])
  expect(done.refused).toEqual(names.map((name) => no(name, /^Its path/)))
})

test('a project has a thousand files of code at most; those that are there can be replaced', async () => {
  await mkdir(join(project, 'code'))
  const names = Array.from({ length: CODE_LIMITS.files - 1 }, (_, nth) => `${nth}.ts`)
  await Promise.all(names.map((name) => writeFile(join(project, 'code', name), '')))
  const files: File[] = ['0.ts', 'last.ts', 'over.ts'].map((name) => [name, 'x'])
  expect(await save(files, { replaces: true })).toEqual({
    saved: [
      { path: 'code/0.ts', bytes: 1, is_replaced: true },
      { path: 'code/last.ts', bytes: 1, is_replaced: false },
    ],
    refused: [no('over.ts', /^The project has 1000 files of code/)],
  })
})
