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
