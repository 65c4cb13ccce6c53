import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  isDraft,
  isMissing,
  isTaken,
  makeOnce,
  readJson,
  readText,
  writeJson,
  writeNew,
  writeWhole,
} from '../../hub/files.ts'

let root = ''
let folder = ''
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'watchpost-files-'))
})
afterAll(() => rm(root, { recursive: true }))
beforeEach(async () => {
  folder = await mkdtemp(join(root, 'test-'))
})

const at = (name: string) => join(folder, name)
const modeOf = async (file: string) => (await stat(file)).mode & 0o777

describe('reading', () => {
  test('a file that is not there is undefined, one that cannot be read an error', async () => {
    expect(await readText(at('none'))).toBeUndefined()
    expect(await readJson(at('none'))).toBeUndefined()
    await expect(readText(folder)).rejects.toThrow('EISDIR')
    await expect(readJson(folder)).rejects.toThrow('EISDIR')
  })

  test('gives the text in UTF-8, and JSON as its value', async () => {
    await writeFile(at('a'), '{"ğ": [1]}')
    expect(await readText(at('a'))).toBe('{"ğ": [1]}')
    expect(await readJson(at('a'))).toEqual({ ğ: [1] })
  })

  test.each(['', '{', 'x'])(
    'the text "%s" is no JSON, and the error names the file',
    async (text) => {
      await writeFile(at('a.json'), text)
      await expect(readJson(at('a.json'))).rejects.toThrow(
        `${at('a.json')} is not valid JSON. Correct it, or restore it from a backup.`,
      )
    },
  )
})

describe('writing', () => {
  test('makes the folders, replaces what was there, and lets nobody else read it', async () => {
    const file = at('b/c/d')
    await writeWhole(file, 'first, and longer')
    await writeWhole(file, new TextEncoder().encode('second'))
    expect(await readFile(file, 'utf8')).toBe('second')
    expect(await modeOf(file)).toBe(0o600)
    await writeWhole(file, 'third', 0o640)
    expect(await modeOf(file)).toBe(0o640)
    expect(await readdir(at('b/c'))).toEqual(['d'])
  })

  test('that fails leaves no draft behind', async () => {
    await mkdir(at('taken'))
    await expect(writeWhole(at('taken'), 'x')).rejects.toThrow()
    expect(await readdir(folder)).toEqual(['taken'])
  })

  test('of JSON indents it and ends with a line break', async () => {
    await writeJson(at('a.json'), { a: [1], b: null }, 0o644)
    expect(await readText(at('a.json'))).toBe('{\n  "a": [\n    1\n  ],\n  "b": null\n}\n')
    expect(await modeOf(at('a.json'))).toBe(0o644)
    await writeJson(at('b.json'), 1)
    expect(await modeOf(at('b.json'))).toBe(0o600)
  })
})

describe('a file that must be new', () => {
  test('is written once, and never replaced', async () => {
    expect(await writeNew(at('a'), 'first', 0o640)).toBe(true)
    expect(await writeNew(at('a'), 'second')).toBe(false)
    expect(await readText(at('a'))).toBe('first')
    expect(await modeOf(at('a'))).toBe(0o640)
    expect(await readdir(folder)).toEqual(['a'])
  })

  test('is made once, whoever asks at the same time', async () => {
    let made = 0
    const make = () => {
      made += 1
      return `secret ${made}`
    }
    const texts = await Promise.all([1, 2, 3].map(() => makeOnce(at('a'), make)))
    expect(texts[0]).toMatch(/^secret \d$/)
    expect(texts).toEqual(Array(3).fill(await readText(at('a'))))
    const before = made
    expect(await makeOnce(at('a'), make)).toBe(texts[0])
    expect(made).toBe(before)
  })

  test('may be empty, and is not made again', async () => {
    await writeFile(at('a'), '')
    expect(await makeOnce(at('a'), () => 'x')).toBe('')
  })
})

test.each([
  ['mail.json.0123456789ab.new', true],
  ['mail.json', false],
  ['mail.json.new', false],
  ['mail.json.0123456789a.new', false],
  ['mail.json.0123456789ag.new', false],
  ['mail.json.0123456789ab.newer', false],
  ['mail.json-0123456789ab.new', false],
])('%s was left by a process that was killed: %s', (name, is) => {
  expect(isDraft(name)).toBe(is)
})

test('what is missing and what is taken are told apart by the code of the error', () => {
  const withCode = (code: string) => Object.assign(new Error('x'), { code })
  expect([isMissing(withCode('ENOENT')), isMissing(withCode('EEXIST'))]).toEqual([true, false])
  expect([isTaken(withCode('EEXIST')), isTaken(withCode('ENOENT'))]).toEqual([true, false])
  for (const other of [new Error('ENOENT'), new Error('EEXIST'), 'ENOENT', null, undefined]) {
    expect([isMissing(other), isTaken(other)], String(other)).toEqual([false, false])
  }
})
