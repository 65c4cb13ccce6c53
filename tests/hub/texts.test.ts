import { test } from 'vitest'
import {
  clip,
  decimal,
  languageOfTask,
  mentions,
  numbersIn,
  one,
} from '../../hub/agents/run/facts.ts'
import { asWritten, inflects, wordsOf } from '../../hub/agents/run/words.ts'
import { isAllowedPath, parseManifest } from '../../hub/backup/manifest.ts'
import { documentPath } from '../../hub/projects/documents.ts'
import { fenced, joined, list, numbered, plain, quote, table } from '../../hub/projects/markdown.ts'
import { parseContext } from '../../hub/projects/project-folder.ts'
import { snippetOf } from '../../hub/projects/snippet.ts'
import { rulesOf } from '../../hub/reader/robots.ts'
import { fold } from '../../shared/words/fold.ts'
import { oddJson } from '../support/odd.ts'
import { agree } from './support/agree.ts'

const long = (length: number) => 'word '.repeat(length / 5)
const WORDS = [
  ...[
    '',
    ' ',
    'a',
    'ab',
    'abc',
    'İSTANBUL ışık',
    'Łódź Straße Ærø',
    'e\u0301te\u0301',
    'x\n\n y\tz ',
  ],
  ...[
    "Demir'in teklifi",
    'o’nun',
    '50’ye yakın',
    'R&D; AT&T',
    'a_b-c.d',
    '１２３',
    '日本 東京',
    '…',
  ],
]
const NUMBERS = [
  ...['1', '12.5', '12,5', '1.250', '1,250', '1.250,50', '1,250.50', '1.250.000', '0.125', '0,125'],
  ...[
    '1.25',
    '1.2500',
    '12.345.',
    '12,',
    '€ 1.000',
    '1.000,00 TL',
    '3 ve 4,5',
    '2026-11-23',
    'none',
  ],
  ...['1,2,3', '1.2.3', '.5', '00.123', '7.', '1.250,5', '999', '1.000.000,1', '1,000,000.25'],
]

test('words and numbers are compared as people write them', async () => {
  await agree('words', WORDS, (text) => [fold(text), wordsOf(text), asWritten(text)])
  await agree('numbers', NUMBERS, (text) => [decimal(text), numbersIn(text)])
  await agree(
    'languages',
    ['Write to them', 'Onlara yaz', 'Bir mail yaz', 'ışık', 'Plan for 2026', 'the ve', 'İ the', ''],
    languageOfTask,
  )
  await agree(
    'clipped',
    ['', 'abcde', 'abcdef', 'abcdefg', ' a  b ', 'a\nb c d', '\u00a0a'],
    (text) => [clip(text, 6), one(text, 5), one(text)],
  )
  await agree('names', ['Demir Lojistik', 'Demir', 'De', 'x', '', 'lojistik', 'demirel'], (name) =>
    ['DEMİR LOJİSTİK’e yaz', 'Demirel', 'Re: Demir Lojistik A.Ş.', ''].map((text) =>
      mentions(text, name),
    ),
  )
})

test('endings are those of the language', async () => {
  const pairs = [
    ...[
      'taslak taslagi',
      'taslak taslaklar',
      'hesap hesabi',
      'bul bulut',
      'bul bulun',
      'ara arama',
    ],
    ...[
      'ara arat',
      'teklif tekliflerini',
      'rapor raporu',
      'kisi kisiler',
      'mail* mailbox',
      'mail* mai',
    ],
    ...[
      'write writing',
      'write written',
      'draft drafts',
      'draft drafted',
      'plan planner',
      'go going',
    ],
    ...['at adi', 'kat kadi', 'et edi', 'gonder gonder', 'sil silinecek', 'yaz yazar misin'],
  ]
  await agree('endings', pairs, (pair) => {
    const [stem = '', word = ''] = pair.split(' ')
    return [inflects(word, stem, 'en'), inflects(word, stem, 'tr')]
  })
})

test('a piece of a text stands around the words that were sought', async () => {
  const text = `${long(100)}Işık  tuttu\n\n ${long(300)}ve Demir'in teklifi ${long(60)}`
  await agree(
    'pieces',
    ['isik', 'DEMIR', 'teklif ve', 'absent', '', ' ve  demir', 'word'],
    (query) => [snippetOf(text, query), snippetOf(` a  short\nIşık `, query)],
  )
})

test('Markdown has no meaning of its own in what others wrote', async () => {
  const texts = [
    'a',
    ' *a* _b_ ',
    '# x',
    '- x',
    '-- x',
    '+x',
    '1. x',
    '1) x',
    '1.x',
    '12',
    '=',
    '<b>',
  ]
  await agree(
    'markdown',
    [...texts, '&amp; & &#3;', 'a|b', 'a\n\nb', '`` x', '[a](b)', '~', '\\'],
    (text) => [
      plain(text),
      quote(text),
      list([text, text]),
      numbered([text, text]),
      table(
        [text, 'b'],
        [
          [text, null],
          [1, undefined],
        ],
        [1],
      ),
      fenced(text),
      fenced(`${text}\n\`\`\`\``, 'ts'),
      joined(text, false, '', undefined, 'end'),
      documentPath(text, '12345678-9'),
      documentPath(`${text} ${long(80)}`, '12345678-9', 'pdf'),
    ],
  )
})

test('a page is open to the reader as its robots.txt says', async () => {
  const texts = [
    '',
    'User-agent: *\nDisallow: /a',
    'User-agent: *\nDisallow: /\n\nUser-agent: WatchpostHub\nAllow: /',
    'User-agent: other\nDisallow: /',
    'user-agent : *\r\ndisallow : /a # all of it\r\nAllow: /a/b',
    'User-agent: other\nUser-agent: *\nCrawl-delay: 3\nDisallow: /*.pdf$',
    'Disallow: /',
    'User-agent: *\nCrawl-delay: -1',
    'User-agent: *\nCrawl-delay: x',
    'User-agent: *\nCrawl-delay: 1e9',
    'User-agent: watchposthub/2.0\nDisallow: /\nUser-agent: *\nAllow: /',
    'Sitemap: x\nUser-agent: *\nSitemap: y\nDisallow: /a',
    `User-agent: *\nDisallow: /${'*a'.repeat(3000)}`,
  ]
  await agree('robots', texts, (text) => {
    const { judge, pause_ms } = rulesOf('https://a.example/robots.txt', text)
    const pages = ['', 'a', 'a/b', 'b.pdf', `c${'a'.repeat(3000)}`]
    return [pause_ms, ...pages.map((page) => judge(`https://a.example/${page}`))]
  })
})

test('the context of a project is read by its headings', async () => {
  const names = ['Description', 'ICP', 'Value proposition', 'Tone of voice']
  const whole = names.map((name) => `## ${name}\n${name}: x`).join('\n\n')
  const texts = [
    whole,
    `# B\n\n${whole.replaceAll('\n', '  \n')}`,
    '',
    '# A\n\n## Company\nx\n\n## Products\n',
    '#A',
    '# A \n## Company  \n\n x \n# B\ny',
    '## company\nx',
  ]
  await agree('contexts', texts, parseContext)
})

const MANIFEST = {
  ...{ format: 1, version: '0.2.0', created_at: '2026-03-01T12:00:00.000Z', kind: 'daily' },
  ...{ upgrades: ['20_leads.sql'], with_secrets: false },
  tables: [{ name: 'leads', columns: ['id', 'name'], rows: 1 }],
  folders: ['database'],
  files: [{ path: 'database/leads.copy', bytes: 1, sha256: 'a'.repeat(64), mode: 0o600 }],
}

test('an archive has what its manifest says, where it may be', async () => {
  const paths = [
    'database',
    'other',
    'projects/a-b/x',
    'projects/A',
    'prompts/x',
    'config/a',
    'config/a/b',
    'database/a',
    '',
    'active/x',
  ]
  await agree('paths', paths, isAllowedPath)
  await agree(
    'manifests',
    ['', '{}', '{"format":99,"version":"9.0"}', JSON.stringify(MANIFEST)],
    parseManifest,
  )
  const odd = new Map(
    oddJson(JSON.stringify(MANIFEST)).flatMap(([place, copies]) =>
      copies.map(([value, copy]): [string, string] => [`${place} = ${value}`, copy]),
    ),
  )
  await agree('manifests-odd', [...odd.keys()], (one) => {
    return parseManifest(odd.get(one) ?? '') && 'taken'
  })
})
