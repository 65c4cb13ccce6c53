import { fileOf, folderOf, type Member, pax } from '../tar.ts'
import { type Attempts, add } from './craft.ts'

const MACHINES_OWN = [
  'admin.json',
  'hub.token',
  'hub.env',
  'hub.json',
  'service.key',
  'public.key',
  'database.key',
  'backup.key',
  'setup.code',
  'license-keys.json',
  'mail-pause.json',
  'watchpost-hub.service',
  '.profile',
]
const LEADING_OUT = [
  '../x',
  '../../../../../etc/cron.d/x',
  '/etc/cron.d/x',
  '/tmp/watchpost-canary',
  'projects/../../x',
  'projects/demir/../../../x',
  'projects/demir/..',
  './projects/demir/x',
  'projects//demir/x',
  'projects/demir/\u0000x',
  'projects\\..\\..\\x',
  'C:\\x',
  'prompts/../config/admin.json',
  'config/../admin.json',
  'active/x',
  'database/../x',
  'projects/demir/./x',
  'proc/self/environ',
  '.job.json',
  'restore.json',
  'models/x.gguf',
  'backups/x',
  'postgres/pg_hba.conf',
  `projects/demir/${'a'.repeat(256)}`,
  `projects/demir/${'a/'.repeat(2100)}x`,
]
const NO_SLUGS = [
  'Demir',
  'İstanbul',
  '-x',
  'a',
  '.git',
  '..',
  'a b',
  'démir',
  'de\u0301mir',
  'ｄemir',
  'demir\n',
  'demir.',
  `a${'b'.repeat(41)}`,
]
const TYPES: [name: string, type: string][] = [
  ['a hard link', '1'],
  ['a symbolic link', '2'],
  ['a character device', '3'],
  ['a block device', '4'],
  ['a pipe', '6'],
  ['a contiguous file', '7'],
  ['a GNU folder dump', 'D'],
  ['a sparse file', 'S'],
  ['a continued file', 'M'],
  ['an unknown type', 'Z'],
]

/** Members where none may be, that are not a regular files, or that come twice. */
export function attackPaths({ change }: Attempts): void {
  for (const name of MACHINES_OWN) {
    change(
      'a file of the machine',
      name,
      new RegExp(`config/${name}`),
      (members, manifest) => void add(members, manifest, `config/${name}`, '{"hash": "mine"}'),
    )
  }
  for (const path of LEADING_OUT) {
    const shown = JSON.stringify(path).slice(0, 60)
    change(
      'a path, listed',
      shown,
      /manifest is invalid|is missing from/,
      (members, manifest) => void add(members, manifest, path),
    )
    change(
      'a path, not listed',
      shown,
      /damaged|not in the archive's manifest|not a regular file/,
      (members) => [...members, fileOf(path, 'x')],
    )
    if (path.includes('\0')) continue
    change('a path in a pax header', shown, /damaged|not in the archive's manifest/, (members) => [
      ...members,
      pax({ path }),
      fileOf('projects/demir/CONTEXT.md', 'x'),
    ])
  }
  for (const slug of NO_SLUGS) {
    change(
      'a folder of no project',
      JSON.stringify(slug),
      /manifest is invalid \(fo|folders/,
      (members, manifest) => {
        manifest.folders.push(`projects/${slug}`)
        members.push(folderOf(`projects/${slug}`))
      },
    )
  }
  for (const path of [
    'CONFIG/license.json',
    'Database/leads.copy',
    'prompts/Sales.md',
    'prompts/x.md',
    'prompts/deep/sales.md',
    'Active',
    'projects/x.md',
  ]) {
    change(
      'a name of another case or place',
      path,
      /manifest is invalid|missing/,
      (members, manifest) => void add(members, manifest, path),
    )
  }
  change(
    'a name of another case or place',
    'database/LEADS.copy',
    /is invalid|never part of a hub backup/,
    (members, manifest) => void add(members, manifest, 'database/LEADS.copy'),
  )
  for (const [name, type] of TYPES) {
    const odd = (path: string): Member => ({
      path,
      content: Buffer.alloc(0),
      type,
      link: '/etc/passwd',
    })
    change('not a regular file', `${name}, not listed`, /not a regular file|damaged/, (members) => [
      ...members,
      odd('projects/demir/odd'),
    ])
    change(
      'not a regular file',
      `${name} in place of a file`,
      /not a regular file|damaged/,
      (members) =>
        members.map((member) =>
          member.path === 'projects/demir/CONTEXT.md' ? odd(member.path) : member,
        ),
    )
    change(
      'not a regular file',
      `${name} in place of a folder`,
      /not a regular file|damaged|missing/,
      (members) =>
        members.map((member) => (member.path === 'projects/demir' ? odd(member.path) : member)),
    )
  }
  change(
    'not a regular file',
    'a link, and a file behind it',
    /not a regular file/,
    (members, manifest) => {
      manifest.folders.push('projects/third')
      add(members, manifest, 'projects/third/x')
      const at = members.length - 1
      members.splice(at, 0, {
        path: 'projects/third',
        content: Buffer.alloc(0),
        type: '2',
        link: '/tmp',
      })
    },
  )
  for (const path of [
    'database/leads.copy',
    'projects/demir/CONTEXT.md',
    'config/suppression.salt',
    'projects/demir',
  ]) {
    change('twice', path, /twice/, (members) => [
      ...members,
      ...members.filter((member) => member.path === path),
    ])
  }
  for (const path of ['manifest.json', 'signature.json']) {
    change('twice', path, /manifest|twice|signature/, (members) => [...members, fileOf(path, '{}')])
  }
}
