import { expect, test } from 'vitest'
import { GDPR, KVKK } from '../../../../hub/agents/law/checklists.ts'
import { passagesOf, ranked } from '../../../../hub/agents/law/papers.ts'
import { STEMS } from '../../../../hub/agents/law/stems.ts'

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
