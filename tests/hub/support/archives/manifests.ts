import { fileOf, tarOf } from '../tar.ts'
import { type Attempts, fileAt, type Manifest, sha256, tableOf } from './craft.ts'

const FIELDS: [name: string, change: (manifest: Manifest) => void, says?: RegExp][] = [
  ['format 0', (m) => void Object.assign(m, { format: 0 })],
  ['a format of text', (m) => void Object.assign(m, { format: '1' })],
  ['a newer format', (m) => void Object.assign(m, { format: 2 }), /newer than this hub/],
  ['no version', (m) => void delete m.version],
  ['an endless version', (m) => void Object.assign(m, { version: 'x'.repeat(10_000) })],
  ['no time', (m) => void Object.assign(m, { created_at: 'today' })],
  ['another kind', (m) => void Object.assign(m, { kind: '../x' })],
  ['upgrades that lead out', (m) => void Object.assign(m, { upgrades: ['../../x.sql'] })],
  [
    'upgrades of later',
    (m) => void Object.assign(m, { upgrades: ['29990101_x.sql'] }),
    /newer than this hub/,
  ],
  ['a field nobody knows', (m) => void Object.assign(m, { run: 'id' })],
  ['secrets of another type', (m) => void Object.assign(m, { with_secrets: 'yes' })],
  ['no tables', (m) => void Object.assign(m, { tables: [] }), /never part of a hub backup/],
  ['a table twice', (m) => void m.tables.push({ ...tableOf(m, 'leads') }), /missing/],
  ['a column twice', (m) => void tableOf(m, 'leads').columns.push('id'), /twice/],
  ['a column that is not there', (m) => void tableOf(m, 'leads').columns.push('x'), /leads\.x/],
  ['a generated column', (m) => void tableOf(m, 'leads').columns.push('email_key'), /email_key/],
  ['a column left out', (m) => void tableOf(m, 'notes').columns.pop(), /notes\.created_at/],
  [
    'a table of the system',
    (m) => {
      tableOf(m, 'notes').name = 'pg_authid'
    },
    /pg_authid/,
  ],
  [
    'a table that is an order',
    (m) => void Object.assign(tableOf(m, 'notes'), { name: 'x"; drop table hub.leads; --' }),
  ],
  [
    'a column that is an order',
    (m) => void tableOf(m, 'notes').columns.splice(0, 1, 'id) from stdin; --'),
  ],
  [
    'fewer rows than there are',
    (m) => void Object.assign(tableOf(m, 'leads'), { rows: tableOf(m, 'leads').rows - 1 }),
    /leads has 2 rows/,
  ],
  [
    'more rows than there are',
    (m) => void Object.assign(tableOf(m, 'leads'), { rows: tableOf(m, 'leads').rows + 1 }),
    /leads has 2 rows/,
  ],
  ['rows below none', (m) => void Object.assign(tableOf(m, 'leads'), { rows: -1 })],
  ['rows beyond counting', (m) => void Object.assign(tableOf(m, 'leads'), { rows: 1e300 })],
  ['a file twice', (m) => void m.files.push({ ...fileAt(m, 'prompts/') }), /twice/],
  ['a folder twice', (m) => void m.folders.push('database'), /twice/],
  ['a file that is a folder too', (m) => void m.folders.push('database/leads.copy'), /twice/],
  [
    'a file whose folder is not listed',
    (m) => void Object.assign(m, { folders: m.folders.filter((f) => f !== 'prompts') }),
    /"prompts"/,
  ],
  [
    'a folder that is not there',
    (m) => void m.folders.push('projects/third'),
    /"projects\/third" is missing/,
  ],
  [
    'a file that is not there',
    (m) =>
      void m.files.push({ path: 'active', bytes: 0, sha256: sha256(Buffer.alloc(0)), mode: 0o600 }),
    /"active" is missing/,
  ],
  ['a mode with setuid', (m) => void Object.assign(fileAt(m, 'prompts/'), { mode: 0o4755 })],
  ['a size below none', (m) => void Object.assign(fileAt(m, 'prompts/'), { bytes: -1 })],
  ['a sum that is none', (m) => void Object.assign(fileAt(m, 'prompts/'), { sha256: 'x' })],
]

/** Manifests that say what is not so, or are none. */
export function attackManifests({ sound, put, change }: Attempts): void {
  for (const [name, how, says = /manifest is invalid/] of FIELDS) {
    change('a lying manifest', name, says, (_, manifest) => how(manifest), { reseal: false })
  }
  for (const [name, text, says] of [
    ['no JSON', '{', /not JSON/],
    ['a list', '[]', /is invalid/],
    ['nothing', '', /not JSON/],
    ['an endless depth', '['.repeat(200_000), /not JSON|is invalid/],
    ['a prototype', '{"__proto__": {"format": 1}}', /is invalid/],
  ] as const) {
    put('a lying manifest', name, says, () =>
      tarOf([fileOf('manifest.json', text), ...sound.slice(2)]),
    )
  }
}
