import { expect, test } from 'vitest'
import type { AgentContext } from '../../../../hub/agents/agent.ts'
import { GDPR, KVKK } from '../../../../hub/agents/law/checklists.ts'
import { NO_LAWYER, papersOf, passagesOf, ranked } from '../../../../hub/agents/law/papers.ts'
import { STEMS } from '../../../../hub/agents/law/stems.ts'
import type { Words } from '../../../../hub/i18n/words.ts'
import { sqlOn } from '../../../../shared/sql.ts'

test('each question of a checklist has words by which a paper may answer it, and no other has', () => {
  const asked = new Set([...KVKK, ...GDPR].map(({ id }) => id))
  expect(Object.keys(STEMS).sort()).toEqual([...asked].sort())
  for (const [id, stems] of Object.entries(STEMS)) {
    expect(stems.join(' '), id).toMatch(/^[a-z ]+$/)
  }
})

test.each<[id: string, words: string]>([
  ['basis', 'lawful|legal|basis|grounds|legitimate|consents|dayanağı|hukuki|menfaatimiz|rızası'],
  ['notice', 'notices|informs|told|first|aydınlatma|bilgilendirme|temasta'],
  ['minimal', 'minimum|only|necessary|needed|yalnızca|gerekli|asgari'],
  ['source', 'sources|obtained|origins|kaynaklar|kaynağı|elde'],
  ['messages', 'consented|permissions|İYS|commercial|onayı|ticari|ileti'],
  ['marketing', 'consents|marketing|permission|onaylar|pazarlama|rıza'],
  ['refusal', 'unsubscribe|refuse|opts|objects|reddetme|aboneliği|çıkış'],
  ['object', 'unsubscribe|refuse|opts|objects|itirazı|reddeder|aboneliği|çıkar'],
  [
    'rights',
    'requests|accessed|correction|deletion|erasure|başvurusu|talepler|talebi|düzeltme|silme',
  ],
  ['retention', 'retention|retained|deleted|kept|keeps|years|months|saklama|siler|imhası|yıl'],
  ['abroad', 'abroad|transferred|outside|adequacy|yurt|aktarımı|yeterlilik'],
  ['transfers', 'transfer|outside|adequate|clauses|EEA|aktarma|yeterlilik|standart'],
  ['processors', 'processors|agreements|contracts|DPA|işleyenler|sözleşmesi|sağlayıcılar'],
  ['security', 'security|encrypted|backups|breaches|access|güvenlik|şifreli|yedekler|ihlali'],
  ['verbis', 'VERBİS'],
  ['records', 'records|registers|inventory|kayıtlar|envanteri'],
  ['representative', 'representatives|temsilcisi'],
])('a paper answers the question of %s with any of its words: %s', (id, words) => {
  const stems = STEMS[id] ?? []
  const paper = (text: string) => [{ where: 'paper', text }]
  const found = words.split('|')
  for (const word of found) {
    expect(ranked(paper(`xx ${word} xx`), stems), word).toHaveLength(1)
    expect(ranked(paper(`xx a${word}`), stems), word).toEqual([])
  }
  expect(found.length).toBe(stems.length)
})

test('a paper is read by paragraphs, without the marks of Markdown', () => {
  const text =
    '# Privacy\n\n> We keep **nothing**\nfor long.\n\nshort\n\n- The first point of a list\n- The second point'
  expect(passagesOf(text, 'a.md')).toEqual([
    { where: 'a.md', text: 'We keep **nothing** for long.' },
    { where: 'a.md', text: 'The first point of a list The second point' },
  ])
  const long = passagesOf(
    Array.from({ length: 30 }, (_, n) => `This is sentence number ${n}.`).join(' '),
    'b',
  )
  expect(long.map((passage) => passage.text.length).every((length) => length <= 500)).toBe(true)
  expect(long.map((passage) => passage.text).join(' ')).toContain('number 29.')
  expect(long.length).toBe(2)
})

test('the passage with most of the wanted words is the first, and one with none is left out', () => {
  const passages = [
    'We sell coffee.',
    'Data are deleted.',
    'Data are deleted after two years.',
  ].map((text) => ({ where: 'x', text }))
  expect(ranked(passages, ['delet', 'year']).map(({ text }) => text)).toEqual([
    'Data are deleted after two years.',
    'Data are deleted.',
  ])
})

test.each<[text: string, passages: string[]]>([
  ['The first of two here.\n \t\nThe second of two here.', ['The first of two here.', 'The second of two here.']],
  ['> > - ## Nested   marks\tand\n  spaces ', ['Nested marks and spaces']],
  ['Just fourteen.', []],
  ['Just fifteen ch', ['Just fifteen ch']],
  [`${'x'.repeat(510)}.`, [`${'x'.repeat(499)}…`]],
  [`${'x'.repeat(249)}. ${'y'.repeat(248)}.`, [`${'x'.repeat(249)}. ${'y'.repeat(248)}.`]],
  [`${'x'.repeat(249)}; ${'y'.repeat(249)}.`, [`${'x'.repeat(249)};`, `${'y'.repeat(249)}.`]],
  [`${'x'.repeat(400)}! ${'y'.repeat(300)}? ${'z'.repeat(20)}.`,
    [`${'x'.repeat(400)}!`, `${'y'.repeat(300)}? ${'z'.repeat(20)}.`]],
])('%j has the passages %j', (text, passages) => {
  expect(passagesOf(text, 'a.md').map(({ text }) => text)).toEqual(passages)
}) // biome-ignore format: a table

test('passages with as many of the wanted words stay in their order', () => {
  const texts = ['Data are kept.', 'Data are here.', 'Data are there.', 'Data are gone.']
  const passages = texts.map((text) => ({ where: 'x', text }))
  expect(ranked(passages, ['data']).map(({ text }) => text)).toEqual(texts)
})

test('a project’s papers are its own readable documents, its mails and its footer', async () => {
  const leftOut: Words[] = []
  const files: Record<string, string> = {
    'docs/a.md': 'We keep nothing for long.',
    'docs/A.TXT': 'We keep nothing at all here.',
    'docs/logo.png': 'A picture of many words.',
    'docs/given.md': 'Something that was given already.',
    'docs/list.md': `${NO_LAWYER.tr} And more of the same.`,
    'docs/long.md': 'z'.repeat(100_001),
    'docs/full.md': `${'y '.repeat(49_999)}yy`,
  }
  const mail = { subject: 'Hello $& you', text: 'A breach is told. <{unsubscribe_url}> Bye.' }
  const read: string[] = []
  const of = (names: string[]) => {
    // safe: all that it uses of its mission
    return papersOf({
      language: 'en',
      mission: { input: { files: ['docs/given.md'] } },
      list: async (folder: string) => names.filter((path) => path.startsWith(`${folder}/`)),
      read: async (path: string) => {
        read.push(path)
        return files[path]
      },
      leaveOut: (words: Words) => void leftOut.push(words),
      step: async (name: string, work: (sql: unknown) => unknown) => {
        expect(name).toBe('papers')
        return work(sqlOn({ query: async () => ({ rows: [mail] }) }))
      },
      footer: async () => ['Unsubscribe here.'],
    } as unknown as AgentContext)
  }
  const papers = await of([...Object.keys(files), 'code/a.md', 'docs/gone.md'])
  const short = papers.filter(({ text }) => !/^[yz]/.test(text))
  expect(short).toEqual([
    { where: 'docs/a.md', text: 'We keep nothing for long.' },
    { where: 'docs/A.TXT', text: 'We keep nothing at all here.' },
    { where: 'the mail “Hello $& you”', text: 'A breach is told. Bye.' },
    { where: 'the footer of every mail', text: 'Unsubscribe here.' },
  ])
  expect(read).not.toContain('docs/given.md')
  expect(leftOut.map(({ en }) => en)).toEqual([
    expect.stringMatching(/docs\/long\.md.*100,?000.*100,?001/),
  ])

  const many = Array.from({ length: 61 }, (_, n) => `docs/${n}.md`)
  read.length = leftOut.length = 0
  await of(many.slice(1))
  expect(leftOut).toEqual([])
  read.length = 0
  await of(many)
  expect(read).toEqual(many.slice(0, 60))
  expect(leftOut.map(({ en }) => en)).toEqual([expect.stringMatching(/60 of 61/)])
})
