import { expect, test } from 'vitest'
import type { AgentContext, Earlier, Thread } from '../../../../hub/agents/agent.ts'
import { earlierMail, replaceMail } from '../../../../hub/agents/mails/earlier-mail.ts'
import type { Audience } from '../../../../hub/mail/drafts/audience.ts'

const lead = (lead_id: string): Audience => ({ kind: 'lead', lead_id })
const list = (tag: string): Audience => ({ kind: 'list', filter: { tag } })
const mission = (...drafts: [Audience, string][]): Earlier => ({
  id: 'm',
  department: 'sales',
  task: '',
  input: {},
  result: null,
  lead_ids: [],
  drafts: drafts.map(([audience, text]) => ({
    id: text,
    audience,
    subject: 'S',
    text,
    state: 'draft',
  })),
})
const thread: Thread = {
  words: '',
  earlier: [
    mission([lead('jo'), 'old to Jo'], [list('new'), 'to the list']),
    mission([lead('jo'), 'new to Jo'], [lead('ada'), 'to Ada']),
  ],
}
/** The mail that the model is shown, and whether as its reader's own. */
const shown = (audience: Audience) =>
  earlierMail(thread, audience).map(
    ({ label, text }) => `${/example/.test(label) ? 'example' : 'own'}: ${text}`,
  )

test('the mail that changes is the newest to the same reader or list', () => {
  expect(shown(lead('jo'))).toEqual(['own: S\n\nnew to Jo'])
  expect(shown(list('new'))).toEqual(['own: S\n\nto the list'])
  // In whichever order the fields of an audience come.
  expect(shown({ lead_id: 'jo', kind: 'lead' })).toEqual(['own: S\n\nnew to Jo'])
  expect(earlierMail(thread, lead('jo'))[0]?.label).toBe('your earlier letter to this reader')
})

test('for a reader who had none, the newest to anybody is the example', () => {
  expect(shown(lead('max'))).toEqual(['example: S\n\nto Ada'])
  expect(shown(list('other'))).toEqual(['example: S\n\nto Ada'])
})

test('without a mail before there is none', () => {
  expect(earlierMail(undefined, lead('jo'))).toEqual([])
  expect(earlierMail({ words: '', earlier: [mission()] }, lead('jo'))).toEqual([])
})

test.each([
  ['Make it shorter.', true],
  ['Write me an alternative.', false],
  ['One more variant, please', false],
  ['a second version', false],
  ['Bir seçenek daha', false],
  ['seçeneği de yaz', false],
  ['alternatif bir metin', false],
  ['başka bir mail', false],
  ['ikinci bir mail', false],
  ['The invariant stays.', true],
  ['Daha kısa yaz.', true],
])('“%s”: the mail before is replaced: %s', async (words, isReplaced) => {
  const looked: unknown[] = []
  const sql = (async (_: TemplateStringsArray, id: unknown) => {
    looked.push(id)
    return []
  }) as unknown as Parameters<typeof replaceMail>[0] // safe: there is no open mail
  const context = { thread: { ...thread, words } } as AgentContext // safe: all that it reads
  await replaceMail(sql, context, lead('jo'))
  expect(looked).toEqual(isReplaced ? ['new to Jo'] : [])
})
