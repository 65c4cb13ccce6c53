import { lstat, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ZipFile } from 'yazl'
import { CODE_LIMITS } from '../../../hub/projects/code-upload.ts'
import { startHub, type TestHub } from '../support/hub.ts'
import { makeProject } from '../support/mission-help.ts'

let hub: TestHub
let code: string
beforeAll(async () => {
  hub = await startHub()
  await makeProject(hub)
  code = join(hub.paths.data_dir, 'projects/rota/code')
})
afterAll(() => hub.close())
beforeEach(() => rm(code, { recursive: true, force: true }))

type Entry = { name: string; content?: string | Buffer; mode?: number }

async function zipOf(entries: Entry[]): Promise<Buffer> {
  const zip = new ZipFile()
  for (const { name, content = 'x', mode = 0o100644 } of entries) {
    zip.addBuffer(Buffer.from(content), name, { mode, mtime: new Date(0) })
  }
  zip.end()
  return buffer(zip.outputStream)
}

/** yazl writes no dangerous name, so one of the same length is put in its place. */
function renamed(archive: Buffer, from: string, to: string): Buffer {
  expect(Buffer.byteLength(to)).toBe(Buffer.byteLength(from))
  const bytes = Buffer.from(archive)
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) bytes.write(to, at)
  return bytes
}

async function upload(files: [string, string | Buffer][], query: Record<string, string> = {}) {
  const form = new FormData()
  for (const [name, content] of files) {
    form.append('file', new File([new Uint8Array(Buffer.from(content))], name))
  }
  return send(form, query)
}

async function send(form: FormData, query: Record<string, string> = {}, language = 'en') {
  const request = new Request('http://hub', { method: 'POST', body: form })
  return hub.call(
    'POST',
    `documents/upload?${new URLSearchParams({ project: 'rota', ...query })}`,
    new Uint8Array(await request.arrayBuffer()),
    { 'content-type': request.headers.get('content-type') ?? '', 'accept-language': language },
  )
}

async function uploaded(files: [string, string | Buffer][], query: Record<string, string> = {}) {
  const answer = await upload(files, query)
  const body = await answer.json()
  expect(answer.status, JSON.stringify(body)).toBe(200)
  return body as {
    saved: { path: string; bytes: number; is_replaced: boolean }[]
    refused: { path: string; why: string }[]
  }
}

const inCode = async () =>
  (await readdir(code, { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(code.length + 1))
    .sort()

describe('files and archives', () => {
  test('are written into code/, archives by their folders', async () => {
    const zip = await zipOf([
      { name: 'shop/src/index.ts', content: 'export const a = 1\n' },
      { name: 'shop/README.md', content: '# Dükkân\n' },
    ])
    const done = await uploaded([
      ['import.js', 'let x\n'],
      ['shop.zip', zip],
    ])
    expect(done).toEqual({
      saved: [
        { path: 'code/import.js', bytes: 6, is_replaced: false },
        { path: 'code/shop/src/index.ts', bytes: 19, is_replaced: false },
        { path: 'code/shop/README.md', bytes: 11, is_replaced: false },
      ],
      refused: [],
    })
    expect(await readFile(join(code, 'shop/README.md'), 'utf8')).toBe('# Dükkân\n')
    expect(await inCode()).toEqual(['import.js', 'shop/README.md', 'shop/src/index.ts'])
    expect((await lstat(join(code, 'import.js'))).mode & 0o777).toBe(0o640)
  })

  test('go into a folder that is named, and into none outside', async () => {
    const { saved } = await uploaded([['a.py', 'x']], { folder: 'tools/csv' })
    expect(saved[0]?.path).toBe('code/tools/csv/a.py')
    for (const folder of ['../docs', '.git', 'a/../../docs', 'a/b/c/d/e/f', '/../x']) {
      const answer = await upload([['a.py', 'x']], { folder })
      expect(answer.status, folder).toBe(422)
      expect((await answer.json()).errors[0].path).toBe('folder')
    }
    expect(await inCode()).toEqual(['tools/csv/a.py'])
  })

  test('that exist are replaced only where it is asked for', async () => {
    await uploaded([['a.py', 'one']])
    const kept = await uploaded([['a.py', 'two']])
    expect(kept.saved).toEqual([])
    expect(kept.refused).toEqual([{ path: 'a.py', why: expect.stringContaining('exists') }])
    expect(await readFile(join(code, 'a.py'), 'utf8')).toBe('one')
    const replaced = await uploaded([['a.py', 'three']], { replace: 'true' })
    expect(replaced.saved).toEqual([{ path: 'code/a.py', bytes: 5, is_replaced: true }])
    expect(await readFile(join(code, 'a.py'), 'utf8')).toBe('three')
  })

  test('of one name in an upload: the first counts, and the second is named', async () => {
    const done = await uploaded(
      [
        ['a.py', 'one'],
        ['a.zip', await zipOf([{ name: 'a.py', content: 'two' }])],
      ],
      { replace: 'true' },
    )
    expect(done.refused).toEqual([{ path: 'a.py', why: expect.stringContaining('twice') }])
    expect(await readFile(join(code, 'a.py'), 'utf8')).toBe('one')
  })

  test('a reason is in the language of who asks', async () => {
    await uploaded([['a.py', 'one']])
    const form = new FormData()
    form.append('file', new File(['two'], 'a.py'))
    const answer = await send(form, {}, 'tr')
    expect((await answer.json()).refused[0].why).toContain('Bu adda bir dosya var')
  })

  test('the limits are said before', async () => {
    expect((await (await hub.call('GET', 'documents/upload_limits')).json()).limits).toEqual(
      CODE_LIMITS,
    )
  })
})

describe('an archive', () => {
  test.each([
    ['aa/evil.py', '../evil.py'],
    ['abs/evil.py', '/tmp/evil.py'.slice(0, 11)],
    ['aaa/evil.py', 'C:\\evil1.py'],
    ['aaa/evil.py', '..\\evil1.py'],
    ['git/config', '.git/confi'],
    ['a/b/evil.py', 'a/../evi.py'],
  ])('whose entry %s is really %s writes the others and names it', async (from, to) => {
    const zip = renamed(await zipOf([{ name: from }, { name: 'good.py' }]), from, to)
    const done = await uploaded([['a.zip', zip]])
    expect(done.saved.map(({ path }) => path)).toEqual(['code/good.py'])
    expect(done.refused).toEqual([
      { path: to.replaceAll('\\', '/'), why: expect.stringContaining('leads outside') },
    ])
    expect(await inCode()).toEqual(['good.py'])
  })

  test('with a link, a device or a nested archive unpacks none of them', async () => {
    const zip = await zipOf([
      { name: 'link', content: '/etc/passwd', mode: 0o120777 },
      { name: 'device', mode: 0o020666 },
      { name: 'inner.zip', content: await zipOf([{ name: 'b.py' }]) },
      { name: 'good.py' },
    ])
    const done = await uploaded([['a.zip', zip]])
    expect(done.refused.map(({ path, why }) => `${path}: ${why}`)).toEqual([
      expect.stringMatching(/^link: It is a link/),
      expect.stringMatching(/^device: It is neither a file nor a folder/),
      expect.stringMatching(/^inner\.zip: It is an archive inside/),
    ])
    expect(await inCode()).toEqual(['good.py'])
  })

  test('that would grow too much is not unpacked, entry or whole', async () => {
    const zip = await zipOf([
      { name: 'bomb.txt', content: Buffer.alloc(1_000_000, 'a') },
      { name: 'large.txt', content: Buffer.alloc(CODE_LIMITS.file_bytes + 1, 'ab c') },
      { name: 'good.py' },
    ])
    const done = await uploaded([['a.zip', zip]])
    expect(done.refused).toEqual([
      { path: 'bomb.txt', why: expect.stringContaining('more than 100 times') },
      { path: 'large.txt', why: expect.stringContaining('1.1 MB; a file has at most 1 MB') },
    ])
    const many = await zipOf(
      Array.from({ length: 21 }, (_, at) => ({
        name: `${at}.txt`,
        content: Buffer.alloc(1024 * 1024, 'a'),
      })),
    )
    const whole = await uploaded([['many.zip', many]])
    expect(whole.saved).toEqual([])
    expect(whole.refused).toEqual([
      { path: 'many.zip', why: expect.stringContaining('21 MB; at most 20 MB') },
    ])
  })

  test('with too many entries is refused as a whole, and says how many are allowed', async () => {
    const entries = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ name: `f/${at}.py` }))
    const most = CODE_LIMITS.archive_entries
    expect(await uploaded([['a.zip', await zipOf(entries(most + 1))]])).toEqual({
      saved: [],
      refused: [
        { path: 'a.zip', why: expect.stringContaining(`${most + 1} entries; at most ${most}`) },
      ],
    })
    expect((await uploaded([['a.zip', await zipOf(entries(most))]])).saved).toHaveLength(most)
  })

  test('whose header lies about the size or the content is not believed', async () => {
    const honest = await zipOf([{ name: 'a.py', content: 'print(1)\n'.repeat(50) }])
    const at = honest.lastIndexOf(Buffer.from('504b0102', 'hex'))
    const small = Buffer.from(honest)
    small.writeUInt32LE(3, at + 24)
    const checksum = Buffer.from(honest)
    checksum.writeUInt32LE(1, at + 16)
    for (const zip of [small, checksum]) {
      const done = await uploaded([['a.zip', zip]])
      expect(done).toEqual({
        saved: [],
        refused: [{ path: 'a.py', why: expect.stringContaining('not what the archive says') }],
      })
    }
    const encrypted = Buffer.from(honest)
    encrypted.writeUInt16LE(encrypted.readUInt16LE(at + 8) | 1, at + 8)
    expect((await uploaded([['a.zip', encrypted]])).refused[0]?.why).toContain('encrypted')
    const cut = honest.subarray(0, honest.length - 30)
    expect((await uploaded([['a.zip', cut]])).refused[0]?.why).toContain('archive is damaged')
  })
})

describe('what is no code', () => {
  test('is refused by name: bytes, hidden files, long paths', async () => {
    const deep = 'a/b/c/d/e/f/g/h.py'
    const zip = await zipOf([{ name: deep }, { name: '.env' }, { name: 'good.py' }])
    const done = await uploaded([
      ['logo.png', Buffer.from([0x89, 0x50, 0, 1])],
      ['latin1.txt', Buffer.from([0xfd, 0x20])],
      ['a.zip', zip],
    ])
    expect(done.refused.map(({ path }) => path)).toEqual(['logo.png', 'latin1.txt', deep, '.env'])
    expect(await inCode()).toEqual(['good.py'])
  })

  test('a link or a folder in the project is neither followed nor replaced', async () => {
    const outside = join(hub.paths.data_dir, 'outside')
    await mkdir(outside, { recursive: true })
    await mkdir(join(code, 'folder.py'), { recursive: true })
    await writeFile(join(outside, 'kept.py'), 'kept')
    await symlink(outside, join(code, 'out'))
    await symlink(join(outside, 'kept.py'), join(code, 'file.py'))
    const zip = await zipOf([
      { name: 'out/new.py' },
      { name: 'file.py' },
      { name: 'folder.py' },
      { name: 'plain.py' },
      { name: 'plain.py/below.py' },
    ])
    const done = await uploaded([['a.zip', zip]], { replace: 'true' })
    expect(done.saved.map(({ path }) => path)).toEqual(['code/plain.py'])
    expect(done.refused).toHaveLength(4)
    expect(await readdir(outside)).toEqual(['kept.py'])
    expect(await readFile(join(outside, 'kept.py'), 'utf8')).toBe('kept')
  })

  test('more files than a project can list are refused, each by its name', async () => {
    await mkdir(code, { recursive: true })
    const room = 2
    for (let at = 0; at < CODE_LIMITS.files - room; at += 1) {
      await writeFile(join(code, `f${at}.py`), 'x')
    }
    const done = await uploaded(
      [
        ['f0.py', 'y'],
        ['n1.py', 'x'],
        ['n2.py', 'x'],
        ['n3.py', 'x'],
      ],
      { replace: 'true' },
    )
    expect(done.saved.map(({ path }) => path)).toEqual(['code/f0.py', 'code/n1.py', 'code/n2.py'])
    expect(done.refused).toEqual([{ path: 'n3.py', why: expect.stringContaining('1000 files') }])
  })
})

test('what is no form, or has no file, is refused and writes nothing', async () => {
  const json = await hub.call('POST', 'documents/upload?project=rota', { a: 1 })
  expect(json.status).toBe(415)
  expect((await json.json()).detail).toMatch(/^Send the files as multipart\/form-data/)
  const form = new FormData()
  form.append('folder', 'a')
  const answer = await send(form)
  expect(answer.status).toBe(422)
  expect((await answer.json()).errors[0].path).toBe('file')
  const large = await upload([['a.txt', Buffer.alloc(CODE_LIMITS.upload_bytes + 128 * 1024)]])
  expect(large.status).toBe(413)
  expect((await upload([['a.py', 'x']], { project: 'nothing' })).status).toBe(404)
  expect(await inCode()).toEqual([])
})
