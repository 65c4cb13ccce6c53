import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  BackupError,
  isAllowedPath,
  isOlder,
  type Manifest,
  manifestText,
  parseManifest,
  tableFile,
  upgradesIn,
} from '../../../hub/backup/manifest.ts'

const SHA = 'a'.repeat(64)
const file = (path: string, more: object = {}) => ({
  path,
  bytes: 0,
  sha256: SHA,
  mode: 0o600,
  ...more,
})
const table = (name: string, more: object = {}) => ({ name, columns: ['id'], rows: 0, ...more })
const manifest = (more: object = {}) => ({
  format: 1,
  version: '1.2.3',
  created_at: '2026-01-01T00:00:00.000Z',
  kind: 'daily',
  upgrades: ['20260101_add_thing.sql'],
  with_secrets: false,
  tables: [table('leads')],
  folders: ['database', 'projects', 'projects/demir', 'projects/demir/docs'],
  files: [file('database/leads.copy'), file('projects/demir/docs/a.md')],
  ...more,
})
/** Why a manifest is refused, or null. */
function refusal(more: object | string): string | null {
  try {
    parseManifest(typeof more === 'string' ? more : JSON.stringify(manifest(more)))
    return null
  } catch (error) {
    expect(error).toBeInstanceOf(BackupError)
    return (error as Error).message
  }
}

describe('a backup may contain', () => {
  test.each([
    'database',
    'projects',
    'prompts',
    'config',
    'active',
    'database/leads.copy',
    'config/hub.json',
    'prompts/.shipped.json',
    'prompts/sales.md',
    'projects/demir',
    'projects/demir/docs/a/b/c.md',
    'projects/_listmonk_lists.json',
  ])('%s', (path) => expect(isAllowedPath(path)).toBe(true))

  test.each([
    '',
    'models',
    'active/x',
    'database/a/b',
    'config/a/b',
    'prompts/other.md',
    'prompts/sales.md/x',
    'projects/Demir',
    'projects/_listmonk_lists.json/x',
    'projects/_other.json',
    '.ssh/key',
  ])('and not "%s"', (path) => expect(isAllowedPath(path)).toBe(false))
})

describe('a manifest', () => {
  test('that is whole is read as it was written', () => {
    const given = manifest() as Manifest
    expect(parseManifest(manifestText(given).toString())).toEqual(given)
    expect(tableFile('leads')).toBe('database/leads.copy')
  })

  test('that is no JSON, or of a newer hub, says so', () => {
    const broken = refusal('{')
    expect(broken).not.toBeNull()
    const newer = refusal({ format: 2, unknown: 1 })
    expect(newer).toContain('1.2.3')
    expect(newer).not.toBe(broken)
    expect(refusal({ format: 0 })).not.toContain('1.2.3')
  })

  test.each<[field: string, more: object]>([
    ['version', { version: 'x'.repeat(41) }],
    ['created_at', { created_at: 'yesterday' }],
    ['kind', { kind: 'weekly' }],
    ['upgrades.0', { upgrades: ['../x.sql'] }],
    ['upgrades.0', { upgrades: ['x.sql.gz'] }],
    ['upgrades.0', { upgrades: [`${'x'.repeat(197)}.sql`] }],
    ['with_secrets', { with_secrets: 'no' }],
    ['tables.0.name', { tables: [table('Leads')] }],
    ['tables.0.name', { tables: [table('1leads')] }],
    ['tables.0.name', { tables: [table('x'.repeat(64))] }],
    ['tables.0.columns', { tables: [table('leads', { columns: [] })] }],
    ['tables.0.columns.0', { tables: [table('leads', { columns: ['a b'] })] }],
    ['tables.0.rows', { tables: [table('leads', { rows: -1 })] }],
    ['folders.0', { folders: ['..'] }],
    ['folders.0', { folders: ['projects/../x'] }],
    ['folders.0', { folders: ['projects/demir/.'] }],
    ['folders.0', { folders: ['projects//demir'] }],
    ['folders.0', { folders: ['projects/demir//docs'] }],
    ['folders.0', { folders: ['projects/demir/'] }],
    ['folders.0', { folders: ['projects/demir/..'] }],
    ['folders.0', { folders: ['projects/demir/../../etc'] }],
    ['folders.0', { folders: ['/projects'] }],
    ['folders.0', { folders: ['projects/demir/a\0b'] }],
    ['folders.0', { folders: [`projects/demir/${'x'.repeat(256)}`] }],
    ['folders.0', { folders: ['models'] }],
    ['files.0.path', { files: [file('config/../../x')] }],
    ['files.0.bytes', { files: [file('database/leads.copy', { bytes: -1 })] }],
    ['files.0.sha256', { files: [file('database/leads.copy', { sha256: 'a'.repeat(63) })] }],
    ['files.0.sha256', { files: [file('database/leads.copy', { sha256: 'A'.repeat(64) })] }],
    ['files.0.sha256', { files: [file('database/leads.copy', { sha256: `x${SHA}` })] }],
    ['files.0.sha256', { files: [file('database/leads.copy', { sha256: `${SHA}x` })] }],
    ['files.0.mode', { files: [file('database/leads.copy', { mode: 0o1000 })] }],
    ['files.0.mode', { files: [file('database/leads.copy', { mode: -1 })] }],
    ['files.0', { files: [file('database/leads.copy', { owner: 'root' })] }],
  ])('with a wrong %s names it: %j', (field, more) => {
    expect(refusal(more)).toContain(field)
  })

  test.each<[more: object]>([
    [{ version: 'x'.repeat(40) }],
    [{ upgrades: [`${'x'.repeat(196)}.sql`, 'a.b-c_1.sql'] }],
    [{ tables: [table('x'.repeat(63))], files: [file(`database/${'x'.repeat(63)}.copy`)] }],
    [{ tables: [table('leads', { rows: 1 })] }],
    [
      {
        folders: ['database', 'projects', 'projects/demir', `projects/demir/${'x'.repeat(255)}`],
        files: [file('database/leads.copy')],
      },
    ],
    [{ files: [file('database/leads.copy', { mode: 0o777, bytes: 1 })] }],
  ])('is read up to each limit: %#', (more) => {
    expect(refusal(more)).toBeNull()
  })

  test.each<[path: string, more: object]>([
    [
      'projects/demir',
      {
        folders: ['database', 'projects', 'projects/demir', 'projects/demir'],
        files: [file('database/leads.copy')],
      },
    ],
    ['database/leads.copy', { files: [file('database/leads.copy'), file('database/leads.copy')] }],
    ['database/leads.copy', { files: [] }],
    ['database/leads.copy', { tables: [table('leads'), table('leads')] }],
    ['database/leads.copy', { tables: [table('leads', { columns: ['id', 'id'] })] }],
    ['database/other.copy', { files: [file('database/leads.copy'), file('database/other.copy')] }],
    ['projects/other', { files: [file('database/leads.copy'), file('projects/other/a.md')] }],
    ['database', { folders: ['projects'], files: [file('database/leads.copy')] }],
  ])('that does not fit itself names %s: %#', (path, more) => {
    expect(refusal(more)).toContain(path)
  })

  test('is not written when no restore would take it', () => {
    const files = Array.from({ length: 200_000 - 4 }, (_, nth) =>
      file(`projects/demir/docs/${nth}`),
    )
    const many = manifest({ files }) as Manifest
    const isShort = (given: Manifest) => {
      try {
        return manifestText(given).length > 0
      } catch (error) {
        expect(error).toBeInstanceOf(BackupError)
        return false
      }
    }
    expect(isShort(many)).toBe(true)
    expect(isShort({ ...many, files: [...files, file('projects/demir/docs/x')] } as Manifest)).toBe(
      false,
    )
    const long = (bytes: number) =>
      manifest({ version: 'x'.repeat(bytes), files: [], folders: [], tables: [] }) as Manifest
    const rest = manifestText(long(0)).length
    expect(isShort(long(64 * 2 ** 20 - rest))).toBe(true)
    expect(isShort(long(64 * 2 ** 20 - rest + 1))).toBe(false)
  })
})

test('a backup is older when it lacks upgrades of this release, and newer when it has others', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-manifest-'))
  try {
    const of = (...upgrades: string[]) => manifest({ upgrades }) as Manifest
    expect(await upgradesIn(folder)).toEqual([])
    expect(await isOlder(of(), folder)).toBe(false)
    await mkdir(join(folder, 'upgrades'))
    for (const name of ['b.sql', 'a.sql', 'notes.txt']) {
      await writeFile(join(folder, 'upgrades', name), '')
    }
    expect(await upgradesIn(folder)).toEqual(['a.sql', 'b.sql'])
    expect(await isOlder(of('a.sql'), folder)).toBe(true)
    expect(await isOlder(of('a.sql', 'b.sql'), folder)).toBe(false)
    await expect(isOlder(of('a.sql', 'c.sql'), folder)).rejects.toThrow('1.2.3')
    await rm(join(folder, 'upgrades'), { recursive: true })
    await writeFile(join(folder, 'upgrades'), '')
    await expect(upgradesIn(folder)).rejects.toThrow('ENOTDIR')
  } finally {
    await rm(folder, { recursive: true })
  }
})
