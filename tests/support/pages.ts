import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dirname, '../..')
const pagesIn = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)

/** Every page of the documentation. */
export const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'],
  ...pagesIn('docs'),
  ...pagesIn('docs/hub'),
]

export const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')

export type Block = { page: string; language: string; mark: string; code: string; line: number }

/** The fenced blocks of a page; what stands behind the language says how a block is tested. */
export function blocksOf(page: string): Block[] {
  const text = textOf(page)
  return [...text.matchAll(/^```(\w+)(?: (.+))?\n([\s\S]*?)^```$/gm)].map((found) => ({
    page,
    language: found[1] ?? '',
    mark: found[2] ?? '',
    code: found[3] ?? '',
    line: text.slice(0, found.index).split('\n').length,
  }))
}
