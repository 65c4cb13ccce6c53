import { lstat, mkdir, readdir, realpath } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { marked, type Token, type Tokens } from 'marked'
import type { Content } from 'pdfmake'
import { fold } from '../../shared/words/fold.ts'
import { isMissing } from '../files.ts'
import { WordsError } from '../i18n/failure.ts'
import { bilingual } from '../i18n/words.ts'
import { documentText } from './documents.text.ts'

/** The folders of documents, patches and tables of missions, in the project's folder. */
export const FOLDERS = ['docs', 'leads', 'drafts', 'code'] as const
/** Files of one folder that are listed at most. */
export const MAX_LISTED = 1000

// Marks, too: macOS writes Turkish letters apart from theirs.
const SEGMENT = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N} ._()+&,'’–-]{0,119}$/u
/** What a file system takes as a name; letters have up to four bytes. */
const MAX_NAME_BYTES = 255
const isName = (part: string) => SEGMENT.test(part) && Buffer.byteLength(part) <= MAX_NAME_BYTES

/** A path that leads out of its folder, or that no document can have. */
export class PathError extends WordsError {}
const say = bilingual(documentText)

/**
 * resolveIn finds a file of a project: inside one of its folders, without `..`, hidden names and
 * symbolic links.
 */
export async function resolveIn(folder: string, path: string): Promise<string> {
  const parts = path.split('/')
  const isContext = path === 'CONTEXT.md'
  const isKnown = (FOLDERS as readonly string[]).includes(parts[0] ?? '') && parts.length > 1
  if (!(isContext || isKnown) || !parts.every(isName) || parts.length > 8) {
    throw new PathError(say.no_path(path.slice(0, 100)))
  }
  const file = join(folder, ...parts)
  const root = await realpath(folder)
  for (let here = file; ; here = dirname(here)) {
    const real = await realpath(here).catch((error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    })
    if (real === undefined) continue
    const isInside = real === root || real.startsWith(root + sep)
    const isLink = here !== folder && (await lstat(here)).isSymbolicLink()
    if (!isInside || isLink) throw new PathError(say.leads_out(path))
    return file
  }
}

/** listIn lists the files inside one of a project's folders, in the order of their names. */
export async function listIn(folder: string, below: string): Promise<string[]> {
  const start = join(folder, below)
  const found: string[] = []
  const walk = async (at: string, depth: number): Promise<void> => {
    const entries = await readdir(at, { withFileTypes: true }).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
    for (const entry of entries.sort((a, b) => a.name.localeCompare(b.name))) {
      if (!isName(entry.name) || found.length >= MAX_LISTED) continue
      const path = join(at, entry.name)
      if (entry.isDirectory() && depth < 6) await walk(path, depth + 1)
      if (entry.isFile()) found.push(relative(folder, path).split(sep).join('/'))
    }
  }
  await walk(start, 0)
  return found
}

/**
 * documentPath makes a path from a title. The mission's id keeps documents with the same title
 * apart, and makes the path the same when the step is repeated.
 */
export function documentPath(title: string, mission_id: string, end = 'md'): string {
  const name = fold(title)
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)
  return `docs/${name || 'document'}-${mission_id.slice(0, 8)}.${end}`
}

/** ensureFolder creates the folder of a file. */
export async function ensureFolder(file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
}

/** 40 MB of modules, loaded only when a PDF is made. */
async function typesetter() {
  const { default: pdfmake } = await import('pdfmake')
  const fonts = createRequire(import.meta.url)('pdfmake/fonts/Roboto.js')
  pdfmake.setFonts(fonts)
  pdfmake.setLocalAccessPolicy((path) => Object.values(fonts.Roboto).includes(path))
  pdfmake.setUrlAccessPolicy(() => false)
  return pdfmake
}

/** The name, the logo (a data: URL), the colour and the address that a document carries. */
export type DocumentLook = {
  name: string
  logo?: string | null
  color?: string
  postal_address?: string | null
}

/**
 * pdfOf typesets a Markdown document with fonts that have all Turkish letters. It leaves out
 * pictures and HTML.
 */
export async function pdfOf(markdown: string, about: { title: string; brand?: DocumentLook }) {
  const { brand } = about
  const logo: Content[] = brand?.logo
    ? [{ image: brand.logo, fit: [160, 48], margin: [0, 0, 0, 20] }]
    : []
  const content = [...logo, ...contentOf(markdown)]
  const below = [brand?.name, brand?.postal_address].filter(Boolean).join(' · ')
  const pdfmake = await typesetter()
  const document = pdfmake.createPdf({
    info: { title: about.title, ...(brand ? { author: brand.name } : {}) },
    content,
    pageSize: 'A4',
    pageMargins: [56, 56, 56, 64],
    defaultStyle: { font: 'Roboto', fontSize: 10.5, lineHeight: 1.25 },
    styles: { title: brand?.color ? { color: brand.color } : {} },
    footer: (page: number, pages: number) => ({
      text: `${below ? `${below} · ` : ''}${page} / ${pages}`,
      alignment: 'center',
      fontSize: 8,
      color: '#666666',
      margin: [0, 20, 0, 0],
    }),
  })
  return document.getBuffer()
}

/** contentOf returns what pdfmake sets of a Markdown document. */
export const contentOf = (markdown: string): Content[] => marked.lexer(markdown).flatMap(blockOf)

const HEADING_SIZES = [20, 15, 12.5, 11, 10.5, 10.5]

function blockOf(token: Token): Content[] {
  const margin = [0, 0, 0, 8]
  switch (token.type) {
    case 'heading':
      return [
        {
          text: inlineOf(token.tokens ?? []),
          bold: true,
          ...(token.depth === 1 ? { style: 'title' } : {}),
          fontSize: HEADING_SIZES[token.depth - 1] ?? 10.5,
          margin: [0, token.depth === 1 ? 0 : 8, 0, 6],
        },
      ]
    case 'paragraph':
      return [{ text: inlineOf(token.tokens ?? []), margin }]
    case 'blockquote':
      return [
        { stack: (token.tokens ?? []).flatMap(blockOf), color: '#444444', margin: [14, 0, 0, 4] },
      ]
    case 'code':
      return [
        { text: breakable(String(token.text)), fontSize: 8.5, preserveLeadingSpaces: true, margin },
      ]
    case 'list': {
      const items = (token as Tokens.List).items.map(itemOf) // safe: the token's type says so
      return [{ [token.ordered ? 'ol' : 'ul']: items, margin }]
    }
    case 'table':
      return [tableOf(token as Tokens.Table)] // safe: the token's type says so
    case 'hr':
      return [{ canvas: [{ type: 'line', x1: 0, y1: 0, x2: 480, y2: 0, lineWidth: 0.5 }], margin }]
    case 'space':
    case 'def':
      return []
    default:
      return [{ text: breakable('text' in token ? String(token.text) : token.raw), margin }]
  }
}

function itemOf(item: Tokens.ListItem): Content {
  const box = item.task ? [{ text: item.checked ? '[x] ' : '[  ] ' }] : []
  // Our own box stands in the line of its text.
  const tokens = item.tokens.filter(({ type }) => type !== 'checkbox')
  const parts = tokens.map(
    (token): Content =>
      token.type === 'text' && token.tokens
        ? { text: [...box, ...inlineOf(token.tokens)] }
        : { stack: blockOf(token) },
  )
  return { stack: parts }
}

function tableOf(token: Tokens.Table): Content {
  const cell = (given: Tokens.TableCell, isHead: boolean): Content => ({
    text: inlineOf(given.tokens),
    bold: isHead,
    fontSize: 9,
    alignment: given.align ?? 'left',
  })
  return {
    table: {
      headerRows: 1,
      body: [
        token.header.map((head) => cell(head, true)),
        ...token.rows.map((row) => row.map((data) => cell(data, false))),
      ],
    },
    layout: 'lightHorizontalLines',
    margin: [0, 2, 0, 10],
  }
}

type Inline = { [property: string]: unknown }

function inlineOf(tokens: Token[]): Inline[] {
  return tokens.flatMap((token): Inline[] => {
    const inner = () => inlineOf(('tokens' in token && token.tokens) || [])
    switch (token.type) {
      case 'strong':
        return inner().map((part) => ({ ...part, bold: true }))
      case 'em':
        return inner().map((part) => ({ ...part, italics: true }))
      case 'del':
        return inner().map((part) => ({ ...part, decoration: 'lineThrough' }))
      case 'link':
        return inner()
      case 'br':
        return [{ text: '\n' }]
      case 'text':
      case 'escape':
      case 'codespan':
        if ('tokens' in token && token.tokens) return inner()
        return [{ text: breakable(unescaped(String(token.text))) }]
      default:
        return [{ text: breakable(token.raw) }]
    }
  })
}

/**
 * Cuts words that are longer than any line. pdfmake measures the whole rest of a word for each of
 * its lines: a word of 400,000 letters used up all memory of the process.
 */
const breakable = (text: string) => text.replace(/\S{200}(?=\S)/gu, '$&\0').split('\0')

/** marked leaves a few entities in the texts of its tokens. */
function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
