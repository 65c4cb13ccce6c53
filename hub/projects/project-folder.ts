import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError } from '../../shared/problem.ts'
import type { Paths } from '../config.ts'
import { readText, writeWhole } from '../files.ts'

export const SLUG = /^[a-z0-9][a-z0-9-]{1,40}$/

/** The archive of a deleted project, `<slug>-<YYYYMMDDhhmmss>.tar.gz`; no path. */
export const ARCHIVE = /^([a-z0-9][a-z0-9-]{1,40})-(\d{14})\.tar\.gz$/

/** The sections of CONTEXT.md, in their order. */
const SECTIONS = {
  description: 'Description',
  icp: 'ICP',
  value_proposition: 'Value proposition',
  tone: 'Tone of voice',
  proof_points: 'Proof points',
  offers: 'Offers',
} as const
type Section = keyof typeof SECTIONS
export type Context = { title: string } & Record<Section, string>

/** What mails have nothing to say without. */
export const WRITING_SECTIONS = ['value_proposition', 'tone', 'proof_points', 'offers'] as const
export type WritingSection = (typeof WRITING_SECTIONS)[number]

const NAMES = Object.entries(SECTIONS) as [Section, string][] // safe: the keys of SECTIONS

/** The folder of a project; only a slug can become a path. */
export function folderOf(paths: Paths, slug: string): string {
  if (!SLUG.test(slug)) throw new ApiError('not_found', 'There is no such project.')
  return join(paths.data_dir, 'projects', slug)
}

/**
 * makeFolder creates the folders of a new project. A CONTEXT.md that exists already is renamed, not
 * lost.
 */
export async function makeFolder(paths: Paths, slug: string, context: Context): Promise<void> {
  const folder = folderOf(paths, slug)
  for (const name of ['leads', 'drafts', 'docs']) {
    await mkdir(join(folder, name), { recursive: true, mode: 0o750 })
  }
  const file = join(folder, 'CONTEXT.md')
  if (existsSync(file)) await rename(file, join(folder, `CONTEXT.${Date.now()}.md`))
  await writeWhole(file, renderContext(context), 0o640)
}

/** CONTEXT.md as it is on disk, so that edits by hand apply at once. */
export async function readContext(paths: Paths, slug: string): Promise<string> {
  return (await readText(join(folderOf(paths, slug), 'CONTEXT.md'))) ?? ''
}

/** changeContext replaces the title and the given sections, and keeps everything else. */
export async function changeContext(
  paths: Paths,
  slug: string,
  change: Partial<Context>,
): Promise<void> {
  let text = await readContext(paths, slug)
  if (change.title !== undefined) {
    const title = `# ${oneLine(change.title)}`
    text = /^# .*$/m.test(text) ? text.replace(/^# .*$/m, () => title) : `${title}\n\n${text}`
  }
  for (const [section, name] of NAMES) {
    const value = change[section]
    if (value === undefined) continue
    const found = new RegExp(`^## ${name}[^\\S\\n]*\\n[\\s\\S]*?(?=^#{1,2} |(?![\\s\\S]))`, 'm')
    const replacement = `## ${name}\n\n${inSection(value)}\n\n`
    text = found.test(text)
      ? text.replace(found, () => replacement)
      : `${text.trimEnd()}\n\n${replacement}`
  }
  await writeWhole(join(folderOf(paths, slug), 'CONTEXT.md'), `${text.trimEnd()}\n`, 0o640)
}

/** parseContext reads the sections of CONTEXT.md; missing ones are empty. */
export function parseContext(text: string): Context {
  const title = /^# (.*)$/m.exec(text)?.[1]?.trim() ?? ''
  const sections = NAMES.map(([section, name]) => {
    const found = new RegExp(`^## ${name}[^\\S\\n]*\\n([\\s\\S]*?)(?=^#{1,2} |(?![\\s\\S]))`, 'm')
    return [section, found.exec(text)?.[1]?.trim() ?? '']
  })
  return { title, ...Object.fromEntries(sections) }
}

/** missingSections lists what a project has not said yet and mails need. */
export function missingSections(text: string): WritingSection[] {
  const context = parseContext(text)
  return WRITING_SECTIONS.filter((section) => context[section] === '')
}

/** removeFolder is the last step of a deletion, after archiving. */
export async function removeFolder(paths: Paths, slug: string): Promise<void> {
  await rm(folderOf(paths, slug), { recursive: true, force: true })
}

function renderContext(context: Context): string {
  const sections = NAMES.map(([section, name]) => `## ${name}\n\n${inSection(context[section])}\n`)
  return `# ${oneLine(context.title)}\n\n${sections.join('\n')}`
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

/** A heading inside a section would end it. */
function inSection(text: string): string {
  return text.trim().replace(/^#{1,2} /gm, '### ')
}
