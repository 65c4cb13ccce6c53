import { type Attempts, add, edit, replace } from './craft.ts'

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
  ['license.json', 'a license of a megabyte', { license: 'x'.repeat(2 ** 20) }],
]

/** Settings that the hub would not have written. */
export function attackSettings({ change }: Attempts): void {
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
}
