import { createHash } from 'node:crypto'
import { fileOf, type Member, tarOf } from '../tar.ts'

/** An attack: what is done to a sound archive, and what the refusal names. */
export type Crafted = {
  group: string
  name: string
  bytes: () => Buffer
  says: RegExp
  trust?: string
}

export type Manifest = {
  tables: { name: string; columns: string[]; rows: number }[]
  folders: string[]
  files: { path: string; bytes: number; sha256: string; mode: number }[]
} & Record<string, unknown>
/** Changes what it is given, or answers other members. */
export type Change = (members: Member[], manifest: Manifest) => unknown

export const TRUST = 'I trust this archive'
export const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')

/** What somebody makes of a sound archive's members; nobody has signed it. */
export function crafted(sound: Member[], change: Change, options = { reseal: true }): Buffer {
  const members = sound
    .filter(({ path }) => path !== 'signature.json')
    .map((member) => ({ ...member }))
  const [first, ...rest] = members
  const manifest = JSON.parse(first?.content.toString('utf8') ?? '') as Manifest
  const given = change(rest, manifest)
  const changed: Member[] = Array.isArray(given) ? given : rest
  if (options.reseal) {
    for (const file of manifest.files) {
      const member = changed.find(({ path, type }) => path === file.path && type === '0')
      if (!member) continue
      file.bytes = member.content.length
      file.sha256 = sha256(member.content)
    }
  }
  return tarOf([fileOf('manifest.json', JSON.stringify(manifest)), ...changed])
}

/** Lists and adds a file. */
export function add(members: Member[], manifest: Manifest, path: string, content = 'x'): void {
  const file = fileOf(path, content)
  manifest.files.push({
    path,
    bytes: file.content.length,
    sha256: sha256(file.content),
    mode: 0o644,
  })
  members.push(file)
}

export const tableOf = (manifest: Manifest, name: string) => {
  const table = manifest.tables.find((one) => one.name === name)
  if (!table) throw new Error(`no table ${name}`)
  return table
}
/** Changes the text of a member. */
export function edit(members: Member[], path: string, change: (text: string) => string): void {
  const member = members.find((one) => one.path === path)
  if (!member) throw new Error(`no member ${path}`)
  member.content = Buffer.from(change(member.content.toString('utf8')))
}
/** Sets one column of a table's first row. */
export function setCell(
  members: Member[],
  manifest: Manifest,
  [table, column]: [string, string],
  value: string,
): void {
  const at = tableOf(manifest, table).columns.indexOf(column)
  edit(members, `database/${table}.copy`, (text) => {
    const [row = '', ...rows] = text.split('\n')
    const cells = row.split('\t')
    cells[at] = value
    return [cells.join('\t'), ...rows].join('\n')
  })
}

export const fileAt = (manifest: Manifest, start: string) => {
  const file = manifest.files.find(({ path }) => path.startsWith(start)) ?? manifest.files[0]
  if (!file) throw new Error('no files')
  return file
}

/** Puts a listed file in place of another, or adds it. */
export function replace(
  members: Member[],
  manifest: Manifest,
  path: string,
  content: string,
): void {
  const member = members.find((one) => one.path === path)
  if (member) member.content = Buffer.from(content)
  else add(members, manifest, path, content)
}

/** The rows that most attacks change. */
export const LEADS = 'database/leads.copy'

/** What an attack is made of, and where it is noted. */
export type Attempts = {
  /** The members of a sound archive, and its bytes. */
  sound: Member[]
  bytes: Buffer
  put: (group: string, name: string, says: RegExp, made: () => Buffer, trust?: string) => void
  change: (
    group: string,
    name: string,
    says: RegExp,
    how: Change,
    options?: { reseal: boolean },
  ) => void
}
