import { type Attempts, edit, LEADS, setCell } from './craft.ts'

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
  [['drafts', 'state'], 'a state that is none', 'delivered'],
  [['drafts', 'approved'], 'an approval that is a list', '[]', /drafts\.approved/],
  [['suppression', 'reason'], 'a reason that is none', 'forgiven'],
  [['notes', 'text'], 'no text', ''],
  [['mission_steps', 'position'], 'a position that is a text', 'first'],
]

/** Rows that do not match their table. */
export function attackRows({ change }: Attempts): void {
  for (const [cell, name, value, says = /do not match/] of CELLS) {
    change('rows', name, says, (members, manifest) => setCell(members, manifest, cell, value))
  }
  const rows: [string, RegExp, (text: string) => string][] = [
    ['that end early', /leads has \d rows/, (text) => text.replace('\n', '\n\\.\n')],
    ['that end at once', /leads has 0 rows/, (text) => `\\.\n${text}`],
    [
      'with an order behind their end',
      /differ from the backup/,
      (text) => `${text}\\.\ndelete from hub.suppression;\n`,
    ],
    ['with a column too few', /do not match/, (text) => text.replace('\t', ' ')],
    ['with a column too many', /do not match/, (text) => text.replace('\n', '\tx\n')],
    ['as CSV', /do not match/, (text) => text.replaceAll('\t', ',')],
    ['in the binary form', /do not match/, (text) => `PGCOPY\n\u00ff\r\n\u0000${text}`],
    ['twice', /do not match|rows/, (text) => text + text],
    ['with a zero byte', /do not match/, (text) => text.replace('Ay', 'A\u0000y')],
    ['that go on without an end', /do not match|rows/, (text) => `${text}\\`],
    [
      'read as other than they are',
      /differ from the backup/,
      (text) => text.replace('Ay', '\\x41y'),
    ],
  ]
  for (const [name, says, how] of rows) {
    change('rows', name, says, (members) => edit(members, LEADS, how))
  }
  change('rows', 'that are no UTF-8', /do not match/, (members) => {
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
}
