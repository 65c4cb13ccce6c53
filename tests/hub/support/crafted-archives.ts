import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { fileOf, folderOf, type Member, pax, tarOf } from './tar.ts'

/** An attack: what is done to a sound archive, and what the refusal names. */
export type Crafted = {
  group: string
  name: string
  bytes: () => Buffer
  says: RegExp
  trust?: string
}

type Manifest = {
  tables: { name: string; columns: string[]; rows: number }[]
  folders: string[]
  files: { path: string; bytes: number; sha256: string; mode: number }[]
} & Record<string, unknown>
/** Changes what it is given, or answers other members. */
type Change = (members: Member[], manifest: Manifest) => unknown

export const TRUST = 'I trust this archive'
const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex')

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

const tableOf = (manifest: Manifest, name: string) => {
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
const CONFIG = ['license', 'branding', 'system', 'agents', 'mail', 'models', 'backup'] as const
const BAD_SETTINGS: [name: string, content: string][] = [
  ['no JSON', '{"a":'],
  ['an array', '[]'],
  ['a field nobody knows', '{"shell": "id"}'],
]
const ONE_SETTING: [file: string, name: string, value: unknown][] = [
  [
    'models.json',
    'an address that is a script',
    { kind: 'endpoint', url: 'javascript:1', model: 'x' },
  ],
  [
    'backup.json',
    'a destination that is an option',
    {
      encryption: { kind: 'recipient', recipient: 'age1x' },
      target: { kind: 'rsync', destination: '-e sh -c id' },
    },
  ],
  [
    'branding.json',
    'a logo with a script',
    {
      name: 'x',
      logo: `data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>').toString('base64')}`,
      colors: { primary: '#000000', accent: '#000000' },
    },
  ],
  ['agents.json', 'a power nobody has', { web: 'always' }],
  ['system.json', 'another language', { language: 'xx' }],
  ['license.json', 'a licence of a megabyte', { license: 'x'.repeat(2 ** 20) }],
]
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
  ['no tables', (m) => void Object.assign(m, { tables: [] }), /not ours|no backup of a hub has/],
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
const fileAt = (manifest: Manifest, start: string) => {
  const file = manifest.files.find(({ path }) => path.startsWith(start)) ?? manifest.files[0]
  if (!file) throw new Error('no files')
  return file
}
const CELLS: [cell: [string, string], name: string, value: string, says?: RegExp][] = [
  [['leads', 'id'], 'an id that is none', 'x'],
  [['leads', 'id'], 'no id', '\\N'],
  [['leads', 'project_id'], 'a project that is not there', '00000000-0000-4000-8000-000000000000'],
  [['leads', 'stage'], 'a stage that is none', 'owner'],
  [['leads', 'score'], 'a number that is too large', '99999999999999'],
  [['leads', 'tags'], 'an array that is none', '{a'],
  [['leads', 'tags'], 'an array with nothing in it', '{a,NULL}', /leads\.tags/],
  [['leads', 'name'], 'a name that is too long', 'x'.repeat(201)],
  [['leads', 'created_at'], 'a time without end', 'infinity', /leads\.created_at/],
  [['leads', 'created_at'], 'a time before all', '4000-01-01 00:00:00+00 BC', /leads\.created_at/],
  [
    ['leads', 'created_at'],
    'a time of the year 20000',
    '20000-01-01 00:00:00+00',
    /leads\.created_at/,
  ],
  [['projects', 'slug'], 'a slug that leads out', '../../etc'],
  [['projects', 'slug'], 'a slug of another case', 'Demir'],
  [['missions', 'department'], 'a department that is none', 'root'],
  [['missions', 'progress'], 'progress that is no number', 'NaN'],
  [['missions', 'reason'], 'a reason in no language', '{"en": "x"}'],
  [['missions', 'input'], 'input that is a text', '"x"', /missions\.input/],
  [['missions', 'result'], 'a result that is a list', '[1]', /missions\.result/],
  [['drafts', 'audience'], 'an audience that is a text', '"everybody"', /drafts\.audience/],
  [['drafts', 'audience'], 'an audience of another kind', '{"kind": "world"}', /drafts\.audience/],
  [['drafts', 'slots'], 'slots that are a number', '7', /drafts\.slots/],
  [['drafts', 'claims'], 'claims that are an object', '{}', /drafts\.claims/],
  [['drafts', 'claims'], 'claims without sentences', '[null]', /drafts\.claims/],
  [['drafts', 'state'], 'a state that is none', 'delivered'],
  [['drafts', 'approved'], 'an approval that is a list', '[]', /drafts\.approved/],
  [['suppression', 'reason'], 'a reason that is none', 'forgiven'],
  [['notes', 'text'], 'no text', ''],
  [['mission_steps', 'position'], 'a position that is a text', 'first'],
]

/** Every attack on a sound archive. */
export function attacks(sound: Member[], bytes: Buffer): Crafted[] {
  const list: Crafted[] = []
  const put = (group: string, name: string, says: RegExp, made: () => Buffer, trust = TRUST) =>
    list.push({ group, name, says, bytes: made, trust })
  const change = (
    group: string,
    name: string,
    says: RegExp,
    how: Change,
    options?: { reseal: boolean },
  ) => put(group, name, says, () => crafted(sound, how, options))

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
      /manifest is not usable|is missing in/,
      (members, manifest) => void add(members, manifest, path),
    )
    change(
      'a path, not listed',
      shown,
      /damaged|not in the archive's manifest|no plain file/,
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
      /manifest is not usable \(fo|folders/,
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
      /manifest is not usable|missing/,
      (members, manifest) => void add(members, manifest, path),
    )
  }
  change(
    'a name of another case or place',
    'database/LEADS.copy',
    /not usable|no backup of a hub has/,
    (members, manifest) => void add(members, manifest, 'database/LEADS.copy'),
  )
  for (const [name, type] of TYPES) {
    const odd = (path: string): Member => ({
      path,
      content: Buffer.alloc(0),
      type,
      link: '/etc/passwd',
    })
    change('no plain file', `${name}, not listed`, /no plain file|damaged/, (members) => [
      ...members,
      odd('projects/demir/odd'),
    ])
    change('no plain file', `${name} in place of a file`, /no plain file|damaged/, (members) =>
      members.map((member) =>
        member.path === 'projects/demir/CONTEXT.md' ? odd(member.path) : member,
      ),
    )
    change(
      'no plain file',
      `${name} in place of a folder`,
      /no plain file|damaged|missing/,
      (members) =>
        members.map((member) => (member.path === 'projects/demir' ? odd(member.path) : member)),
    )
  }
  change('no plain file', 'a link, and a file behind it', /no plain file/, (members, manifest) => {
    manifest.folders.push('projects/third')
    add(members, manifest, 'projects/third/x')
    const at = members.length - 1
    members.splice(at, 0, {
      path: 'projects/third',
      content: Buffer.alloc(0),
      type: '2',
      link: '/tmp',
    })
  })
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
  for (const [name, how, says = /manifest is not usable/] of FIELDS) {
    change('a lying manifest', name, says, (_, manifest) => how(manifest), { reseal: false })
  }
  for (const [name, text, says] of [
    ['no JSON', '{', /no JSON/],
    ['a list', '[]', /not usable/],
    ['nothing', '', /no JSON/],
    ['an endless depth', '['.repeat(200_000), /no JSON|not usable/],
    ['a prototype', '{"__proto__": {"format": 1}}', /not usable/],
  ] as const) {
    put('a lying manifest', name, says, () =>
      tarOf([fileOf('manifest.json', text), ...sound.slice(2)]),
    )
  }
  for (const [cell, name, value, says = /do not fit/] of CELLS) {
    change('rows', name, says, (members, manifest) => setCell(members, manifest, cell, value))
  }
  const LEADS = 'database/leads.copy'
  const rows: [string, RegExp, (text: string) => string][] = [
    ['that end early', /leads has \d rows/, (text) => text.replace('\n', '\n\\.\n')],
    ['that end at once', /leads has 0 rows/, (text) => `\\.\n${text}`],
    [
      'with an order behind their end',
      /do not read back/,
      (text) => `${text}\\.\ndelete from hub.suppression;\n`,
    ],
    ['with a column too few', /do not fit/, (text) => text.replace('\t', ' ')],
    ['with a column too many', /do not fit/, (text) => text.replace('\n', '\tx\n')],
    ['as CSV', /do not fit/, (text) => text.replaceAll('\t', ',')],
    ['in the binary form', /do not fit/, (text) => `PGCOPY\n\u00ff\r\n\u0000${text}`],
    ['twice', /do not fit|rows/, (text) => text + text],
    ['with a zero byte', /do not fit/, (text) => text.replace('Ay', 'A\u0000y')],
    ['that go on without an end', /do not fit|rows/, (text) => `${text}\\`],
    ['read as other than they are', /do not read back/, (text) => text.replace('Ay', '\\x41y')],
  ]
  for (const [name, says, how] of rows) {
    change('rows', name, says, (members) => edit(members, LEADS, how))
  }
  change('rows', 'that are no UTF-8', /do not fit/, (members) => {
    const member = members.find(({ path }) => path === LEADS)
    if (member)
      member.content = Buffer.from(
        member.content.toString('latin1').replace('Ay', '\xff\xfe'),
        'latin1',
      )
  })
  change('rows', 'of opt-outs that end early', /suppression has 0 rows/, (members) =>
    edit(members, 'database/suppression.copy', (text) => `\\.\n${text}`),
  )
  for (const name of CONFIG) {
    for (const [what, content] of BAD_SETTINGS) {
      change(
        'a setting',
        `${name}.json: ${what}`,
        new RegExp(`config/${name}\\.json`),
        (members, manifest) => {
          replace(members, manifest, `config/${name}.json`, content)
        },
      )
    }
  }
  for (const [file, what, value] of ONE_SETTING) {
    change('a setting', `${file}: ${what}`, new RegExp(`config/${file}`), (members, manifest) => {
      replace(members, manifest, `config/${file}`, JSON.stringify(value))
    })
  }
  const SALT = 'config/suppression.salt'
  for (const [what, text] of [
    ['none', ''],
    ['a short one', 'eA==\n'],
    ['of other signs', `${'*'.repeat(44)}\n`],
    [
      'of very many hubs',
      Array.from({ length: 51 }, (_, i) => `${Buffer.alloc(32, i).toString('base64')}\n`).join(''),
    ],
  ] as const) {
    change('a setting', `suppression.salt: ${what}`, /suppression\.salt/, (members) =>
      edit(members, SALT, () => text),
    )
  }
  change('a setting', 'no salt for the opt-outs', /opt/, (members, manifest) => {
    manifest.files = manifest.files.filter(({ path }) => path !== SALT)
    return members.filter(({ path }) => path !== SALT)
  })
  change(
    'a setting',
    'an active project that leads out',
    /"active"/,
    (members, manifest) => void add(members, manifest, 'active', '../../etc\n'),
  )
  change(
    'a setting',
    'lists of listmonk that are none',
    /_listmonk_lists/,
    (members, manifest) =>
      void add(members, manifest, 'projects/_listmonk_lists.json', '{"demir": 1}'),
  )

  const CONTEXT = 'projects/demir/CONTEXT.md'
  const sized = (size: number, content?: Buffer) => (members: Member[]) =>
    members.map((member) =>
      member.path === CONTEXT ? { ...member, size, content: content ?? member.content } : member,
    )
  put('a bomb', 'a member larger than listed', /bytes, and the manifest says/, () =>
    crafted(sound, sized(40 * 2 ** 20, Buffer.alloc(40 * 2 ** 20)), { reseal: false }),
  )
  put('a bomb', 'a member that says more than it has', /bytes, and the manifest says|damaged/, () =>
    crafted(sound, sized(2 ** 33 - 1), { reseal: false }),
  )
  put('a bomb', 'a member that says less than it has', /bytes, and the manifest says|damaged/, () =>
    crafted(sound, sized(1), { reseal: false }),
  )
  put('a bomb', 'a size in a pax header', /bytes, and the manifest says|damaged/, () =>
    crafted(
      sound,
      (members) =>
        members.flatMap((member) =>
          member.path === CONTEXT ? [pax({ size: '99999999999' }), member] : [member],
        ),
      { reseal: false },
    ),
  )
  put('a bomb', 'more than the disk holds, listed', /no room/, () =>
    crafted(
      sound,
      (_, manifest) => void Object.assign(fileAt(manifest, CONTEXT), { bytes: 2 ** 50 }),
      {
        reseal: false,
      },
    ),
  )
  put('a bomb', 'zeros behind the end', /unpacks to more|damaged/, () => {
    const zeros = gzipSync(Buffer.alloc(100 * 2 ** 20), { level: 1 })
    return Buffer.concat([tarOf(sound), zeros])
  })
  put('a bomb', 'an archive compressed twice', /damaged/, () => gzipSync(bytes))
  put('a bomb', 'a manifest beyond reading', /200,000|damaged/, () =>
    tarOf([{ ...fileOf('manifest.json', 'x'), size: 2 ** 30 }]),
  )
  put('a bomb', 'a pax header beyond reading', /damaged|no plain file/, () =>
    tarOf([{ ...pax({ comment: 'x'.repeat(3 * 2 ** 20) }), path: 'pax' }, ...sound]),
  )
  put('a bomb', 'very many members', /not in the archive's manifest/, () =>
    crafted(sound, (members) => [
      ...members,
      ...Array.from({ length: 5000 }, (_, i) => fileOf(`projects/demir/${i}`)),
    ]),
  )
  put('no archive', 'a text', /damaged/, () => Buffer.from('hello'))
  put('no archive', 'nothing', /damaged|manifest/, () => Buffer.alloc(0))
  put('no archive', 'nothing, compressed', /damaged|manifest/, () => gzipSync(Buffer.alloc(0)))
  put('no archive', 'zeros, compressed', /damaged|manifest/, () => gzipSync(Buffer.alloc(10_240)))
  put('no archive', 'no manifest', /no manifest/, () => tarOf(sound.slice(2)))
  put('no archive', 'a manifest behind a file', /no manifest/, () =>
    tarOf([...sound.slice(2), ...sound.slice(0, 2)]),
  )
  put('no archive', 'an age header without end', /damaged/, () =>
    Buffer.concat([Buffer.from('age-encryption.org/v1\n-> X25519 '), Buffer.alloc(200_000, 'a')]),
  )
  put('no archive', 'an age header that costs gigabytes', /does not open/, () => {
    const salt = Buffer.alloc(16).toString('base64').replace(/=+$/, '')
    const body = Buffer.alloc(32).toString('base64').replace(/=+$/, '')
    const mac = Buffer.alloc(32).toString('base64').replace(/=+$/, '')
    return Buffer.from(
      `age-encryption.org/v1\n-> scrypt ${salt} 24\n${body}\n--- ${mac}\nxxxxxxxxxxxxxxxx`,
    )
  })
  for (const share of [0.1, 0.3, 0.5, 0.7, 0.9, 0.99]) {
    put('cut off', `at ${share * 100} %`, /damaged|missing|manifest/, () =>
      bytes.subarray(0, Math.floor(bytes.length * share)),
    )
  }
  for (const share of [0.02, 0.2, 0.4, 0.6, 0.8, 0.95]) {
    put(
      'a flipped bit',
      `at ${share * 100} %`,
      /damaged|checksum|manifest|signature|plain file|twice|bytes/,
      () => {
        const spoiled = Buffer.from(bytes)
        const at = Math.floor(spoiled.length * share)
        spoiled[at] = (spoiled[at] ?? 0) ^ 0x10
        return spoiled
      },
    )
  }
  change(
    'a sum',
    'another content of the same size',
    /checksum/,
    (members) => {
      edit(members, LEADS, (text) => text.replace('40', '41').replace('new', 'won'))
    },
    { reseal: false },
  )

  const [manifest, , ...rest] = sound
  const signed = (content: Buffer, kind: 'ed25519' | 'ed448', over = content) => {
    const { privateKey, publicKey } = generateKeyPairSync(kind as 'ed25519')
    const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
    const text = Buffer.concat([Buffer.from('watchpost-hub backup 1\n'), over])
    return JSON.stringify({ key, signature: sign(null, text, privateKey).toString('base64') })
  }
  const head = (signature: string) => () =>
    tarOf([manifest ?? fileOf('manifest.json'), fileOf('signature.json', signature), ...rest])
  const text = manifest?.content ?? Buffer.alloc(0)
  put(
    'a signature',
    'of another hub, with no word from a person',
    /Another hub signed this archive \(key [0-9a-f ]{39}\)/,
    head(signed(text, 'ed25519')),
    '',
  )
  put(
    'a signature',
    'of another hub, with the wrong word',
    /Another hub signed/,
    head(signed(text, 'ed25519')),
    'yes',
  )
  put(
    'a signature',
    'of another manifest',
    /signature does not fit/,
    head(signed(text, 'ed25519', Buffer.from('x'))),
  )
  put(
    'a signature',
    'by another kind of key',
    /signature does not fit/,
    head(signed(text, 'ed448')),
  )
  put('a signature', 'that is empty', /signature does not fit/, head('{}'))
  put('a signature', 'that is no JSON', /signature does not fit/, head('x'))
  put('a signature', 'that is very long', /signature does not fit/, head(' '.repeat(5000)))
  put(
    'a signature',
    'none, with no word from a person',
    /No hub signed this archive/,
    () => tarOf([manifest ?? fileOf(''), ...rest]),
    '',
  )
  put('a signature', 'ours, with rows of theirs', /checksum/, () =>
    tarOf(
      sound.map((member) =>
        member.path === LEADS
          ? {
              ...member,
              content: Buffer.from(member.content.toString('utf8').replace('new', 'won')),
            }
          : member,
      ),
    ),
  )
  put('a signature', 'ours, with a manifest of theirs', /signature does not fit/, () =>
    tarOf(
      sound.map((member) =>
        member.path === 'manifest.json'
          ? {
              ...member,
              content: Buffer.from(member.content.toString('utf8').replace('manual', 'daily')),
            }
          : member,
      ),
    ),
  )
  return list
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
