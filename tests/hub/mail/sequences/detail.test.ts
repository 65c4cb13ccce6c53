import { expect, test } from 'vitest'
import {
  mailsFor,
  plannedOf,
  type Seen,
  whatHappens,
} from '../../../../hub/mail/sequences/detail.ts'

const at = (day: number) => new Date(`2026-12-${String(day).padStart(2, '0')}T09:00:00Z`)
const person = (name: string, more: object = {}) => ({
  lead_id: `lead of ${name}`,
  email: `${name.toLowerCase()}@x.example`,
  name,
  company: 'Öz',
  time_zones: ['Europe/Istanbul'],
  source: 'country',
  left_out: null,
  is_in: false,
  had: 0,
  ...more,
})
const step = (id: string, given: object = {}) => ({
  draft: { id, step: null, ...given },
  mail: {
    subject: `${id} for {company}`,
    text: 'Hello {first_name}, {unsubscribe_url}',
    html: '<p>{name}</p>',
    bytes: 0,
  },
})
const seen = (given: object) =>
  ({ people: [], steps: [], plan: new Map(), ...given }) as unknown as Seen // safe: what is looked at is there
const STEPS = [step('one', { step: 1 }), step('two')]

test('what an approval does is told by the first and the last mail of all', () => {
  const plan = new Map([
    ['a', [at(3), at(7)]],
    ['b', [null, at(2)]],
    ['c', [at(9), null]],
  ])
  expect(whatHappens(seen({ plan, steps: STEPS }))?.en).toMatch(
    /^3 people get up to 2 mails each, the first on 2 December 2026 and the last on 9 December 2026\./,
  )
  const one = new Map([['a', [at(5)]]])
  expect(whatHappens(seen({ plan: one, steps: [step('one')] }))?.en).toMatch(
    /^1 person gets up to 1 mail each, the first on 5 December 2026 and the last on 5 December/,
  )
  expect(whatHappens(seen({ plan: new Map([['a', [null]]]), steps: STEPS }))).toBeNull()
  expect(whatHappens(seen({ steps: STEPS }))).toBeNull()
})

test('a recipient has the planned time of each mail, and none that is over', () => {
  const plan = new Map([['ada@x.example', [null, at(4)]]])
  const ada = person('Ada', { had: 1, is_in: true }) as never // safe: what is looked at is there
  expect(plannedOf(seen({ plan }), ada)).toEqual({
    lead_id: 'lead of Ada',
    email: 'ada@x.example',
    name: 'Ada',
    company: 'Öz',
    time_zones: ['Europe/Istanbul'],
    zone_source: 'country',
    left_out: null,
    is_in: true,
    had: 1,
    planned: [null, '2026-12-04T09:00:00.000Z'],
  })
  expect(plannedOf(seen({}), ada).planned).toEqual([])
})

test('the mails are those of the one who is asked for, or of the first who gets any', () => {
  const people = [person('Out', { left_out: { en: 'x', tr: 'x' } }), person('Ada'), person('Bo')]
  const plan = new Map([['bo@x.example', [at(4), null]]])
  const given = seen({ people, plan, steps: STEPS })
  expect(mailsFor(given, 'bo@x.example')).toMatchObject({
    recipient: { email: 'bo@x.example' },
    mails: [
      {
        step_id: 'one',
        step: 1,
        subject: 'one for Öz',
        text: 'Hello Bo, #',
        html: '<p>Bo</p>',
        at: '2026-12-04T09:00:00.000Z',
      },
      { step_id: 'two', step: 2, subject: 'two for Öz', at: null },
    ],
  })
  expect(mailsFor(given, null)).toMatchObject({
    recipient: { email: 'ada@x.example', planned: [] },
    mails: [{ at: null }, { at: null }],
  })
  expect(mailsFor(seen({ people: people.slice(0, 1), steps: STEPS }), null).recipient?.email).toBe(
    'out@x.example',
  )
  expect(() => mailsFor(given, 'cy@x.example')).toThrow(
    expect.objectContaining({ code: 'not_found' }),
  )
})

test('without a recipient the mails are shown without one', () => {
  const { recipient, mails } = mailsFor(seen({ steps: STEPS }), null)
  expect(recipient).toBeNull()
  expect(mails).toMatchObject([{ at: null, text: expect.not.stringContaining('{') }, {}])
})
