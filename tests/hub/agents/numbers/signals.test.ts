import { expect, test } from 'vitest'
import { signalsOf } from '../../../../hub/agents/numbers/signals.ts'
import { sqlOn } from '../../../../shared/sql.ts'

/** A database with these mails that were sent, and these drafts that were edited. */
const read = (mails: object[], drafts: object[]) =>
  signalsOf(
    sqlOn({
      query: async (text) => ({ rows: /from hub\.recipients|join/.test(text) ? mails : drafts }),
    }),
  )
const draft = (text: string, first_text: string, subject = 'A subject') => ({
  subject,
  text,
  slots: {},
  language: 'en',
  first_text,
})

test('each mail is a line with what came back', async () => {
  const mail = { subject: 'A\n question', sent: 9, replied: 3, bounced: 2, left_list: 1 }
  expect(await read([mail, { ...mail, subject: 'Another' }], [])).toEqual([
    {
      label: 'mails of four weeks and what came back',
      text:
        'A question | sent 9, replied 3, bounced 2, unsubscribed 1\n' +
        'Another | sent 9, replied 3, bounced 2, unsubscribed 1',
    },
  ])
  expect(await read([], [])).toEqual([])
})

test('of an edited draft it is told what was taken out and what came in', async () => {
  const before = 'A subject\nWe lead.\n \nYou run trucks.'
  const after = 'You run trucks. We plan routes.'
  const more = draft('New. Newer. Newest. Last.', 'Another\nOld.', 'Another')
  expect(await read([], [draft(after, before), more])).toEqual([
    {
      label: 'what people changed in drafts',
      text: [
        'in "A subject"',
        '- removed: We lead.',
        '+ written: We plan routes.',
        'in "Another"',
        '- removed: Old.',
        '+ written: New.',
        '+ written: Newer.',
        '+ written: Newest.',
      ].join('\n'),
    },
  ])
})

test('a draft that says the same as before is not told', async () => {
  expect(await read([], [draft('We lead.', 'A subject\nWe lead.')])).toEqual([])
})
