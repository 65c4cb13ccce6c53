import type { Scene } from '../run-alone.ts'

const mail = (subject: string, ...texts: string[]) => ({
  subject,
  sentences: texts.map((text) => ({ text, cites: ['none'] })),
})
const FIRST = mail('Your routes', 'May we show you our planner?', 'Shall we talk next week?')
const SECOND = mail('Once more', 'Would a short call suit you?', 'We wish you a good week.')

/** Marketing is asked for a sequence of mails. */
export const SEQUENCES: Record<string, Scene> = {
  'marketing/sequence': {
    agent: 'marketing',
    task: {
      en: 'Plan a sequence of 2 mails, every 5 days, for our customers',
      tr: 'Müşterilerimize 5 günde bir giden 2 e-postalık bir dizi planla',
    },
    input: { filter: { stage: 'won' } },
    rows: [
      [
        /^select id from hub\.drafts where sequence_id/,
        [{ id: '77777777-2222-4333-8444-555555555555' }],
      ],
    ],
    answers: { 'write 1': FIRST, 'rewrite 1': FIRST, 'write 2': SECOND, 'rewrite 2': SECOND },
  },
}
