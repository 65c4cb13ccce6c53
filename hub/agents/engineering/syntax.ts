import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'

/** A file's name says nothing about its module system where it ends in `.js` or `.ts`: both count. */
const TRIED: Record<string, string[]> = {
  '.js': ['.mjs', '.cjs'],
  '.mjs': ['.mjs'],
  '.cjs': ['.cjs'],
  '.ts': ['.mts', '.cts'],
  '.mts': ['.mts'],
  '.cts': ['.cts'],
}
const TIMEOUT_MS = 60_000

export type Syntax = { is_checked: false } | { is_checked: true; error: string | null }

/**
 * syntaxOf parses a file with `node --check`, which runs nothing of it; of TypeScript only what
 * Node reads by leaving the types out. Other languages are not checked.
 */
export async function syntaxOf(path: string, text: string): Promise<Syntax> {
  const ends = TRIED[extname(path).toLowerCase()]
  if (!ends) return { is_checked: false }
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-syntax-'))
  try {
    let error: string | null = null
    for (const end of ends) {
      const file = join(folder, `file${end}`)
      await writeFile(file, text)
      const found = await check(file)
      if (found === undefined) return { is_checked: false }
      if (found === null) return { is_checked: true, error: null }
      error ??= found.replaceAll(file, path)
    }
    return { is_checked: true, error }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What the parser objects to: the place, and the message; undefined where it did not end. */
function check(file: string): Promise<string | null | undefined> {
  return new Promise((resolve) => {
    const options = { timeout: TIMEOUT_MS, env: {}, cwd: tmpdir() }
    execFile(process.execPath, ['--check', file], options, (error, _, said) => {
      if (!error) return resolve(null)
      if (error.killed) return resolve(undefined)
      const lines = said.split('\n').map((line) => line.trim())
      const place = lines.find((line) => line.includes(file)) ?? ''
      const message = lines.find((line) => /^\w*Error\b/.test(line)) ?? error.message
      resolve([place, message].filter(Boolean).join(': ').slice(0, 400))
    })
  })
}
