import { expect, test } from 'vitest'
import { additions } from '../../../hub/leads/import-additions.ts'
import { basisDefaults } from '../../../hub/leads/import-batch.ts'
import type { NewLead } from '../../../hub/leads/lead.ts'
import { EMPTY } from '../../../hub/leads/leads.ts'

const ADA = { ...EMPTY, name: 'Ada', email: 'ada@x.example' }

test.each<[what: string, had: NewLead, row: NewLead, merge: NewLead, update: NewLead]>([
  ['nothing is new', { title: 'Head' }, { name: 'Ada', title: 'Head' }, {}, {}],
  ['a cell is empty', { title: 'Head' }, { title: null, phone: undefined }, {}, {}],
  ['a field was empty', {}, { title: 'Head' }, { title: 'Head' }, { title: 'Head' }],
  ['a field is another', { title: 'Head' }, { title: 'CEO' }, {}, { title: 'CEO' }],
  ['the source is another', { source: 'Fair' }, { source: 'List' }, {}, {}],
  ['there was no source', {}, { source: 'List' }, { source: 'List' }, { source: 'List' }],
  ['a score is zero', { score: 5 }, { score: 0 }, {}, { score: 0 }],
  [
    'there was no amount',
    { currency: 'EUR' },
    { amount: 5, currency: 'USD' },
    { amount: 5, currency: 'USD' },
    { amount: 5, currency: 'USD' },
  ],
  [
    'an amount is another, its currency never alone',
    { amount: 5, currency: 'EUR' },
    { amount: 6, currency: 'USD' },
    {},
    { amount: 6, currency: 'USD' },
  ],
  [
    'a currency comes without an amount',
    { amount: 5, currency: 'EUR' },
    { currency: 'USD' },
    {},
    {},
  ],
  ['an amount is zero', { amount: 0, currency: 'EUR' }, { amount: 6 }, {}, { amount: 6 }],
  [
    'a basis is there, with all that was said of it',
    { lawful_basis: 'consent', basis_note: null },
    { lawful_basis: 'contract', basis_note: 'n', basis_source: 's', basis_on: '2026-01-01' },
    {},
    {},
  ],
  [
    'no basis is there',
    { basis_note: 'old' },
    { lawful_basis: 'contract', basis_note: 'n' },
    { lawful_basis: 'contract', basis_note: 'n' },
    { lawful_basis: 'contract', basis_note: 'n' },
  ],
  ['a deal is open', { stage: 'meeting' }, { outcome_reason: 'Price', outcome_note: 'n' }, {}, {}],
  [
    'a deal is decided by the row',
    { stage: 'meeting' },
    { stage: 'lost', outcome_reason: 'Price', outcome_note: 'n' },
    {},
    { stage: 'lost', outcome_reason: 'Price', outcome_note: 'n' },
  ],
  [
    'a deal is decided anew for the same reason',
    { stage: 'won', outcome_reason: 'Price' },
    { stage: 'lost', outcome_reason: 'Price' },
    {},
    { stage: 'lost', outcome_reason: 'Price' },
  ],
  [
    'a deal was decided',
    { stage: 'won' },
    { outcome_reason: 'Price' },
    { outcome_reason: 'Price' },
    { outcome_reason: 'Price' },
  ],
  [
    'a deal was decided, and is open by the row',
    { stage: 'lost', outcome_reason: 'Price' },
    { stage: 'meeting', outcome_reason: 'Time', outcome_note: 'n' },
    { outcome_note: 'n' },
    { stage: 'meeting' },
  ],
  [
    'there are tags',
    { tags: ['a', 'b'] },
    { tags: ['b', 'c'] },
    { tags: ['a', 'b', 'c'] },
    { tags: ['a', 'b', 'c'] },
  ],
  ['there are no other tags', { tags: ['a', 'b'] }, { tags: ['b'] }, {}, {}],
  [
    'there are fields of one’s own',
    { custom: { fleet: 4, plan: 'a' } },
    { custom: { fleet: 5, plan: 'a', vip: false, size: null } },
    { custom: { vip: false } },
    { custom: { fleet: 5, vip: false } },
  ],
  ['there are no other fields of one’s own', { custom: { a: 1 } }, { custom: { a: 1 } }, {}, {}],
])('of a row for a known lead, where %s, this is taken', (_, had, row, merge, update) => {
  const { tags = [], custom = {} } = had
  const before = { ...ADA, ...had, tags, custom }
  expect(additions(before, row, 'merge')).toEqual(merge)
  expect(additions(before, row, 'update')).toEqual(update)
})

const SAID = { basis_note: 'Fair', basis_source: 'List', basis_on: '2026-01-01' }
const NOTHING = { basis_note: null, basis_source: null, basis_on: null }

test.each<[what: string, row: NewLead, basis: 'contract' | null, said: object, taken: NewLead]>([
  ['a row without a basis, all', {}, 'contract', SAID, SAID],
  ['a row without a basis, what was said', {}, 'contract', {}, NOTHING],
  ['a row without a basis, nothing without one', {}, null, SAID, {}],
  ['a row with a basis of its own, nothing', { lawful_basis: 'consent' }, 'contract', SAID, {}],
  [
    'a legitimate interest without a note, the note alone',
    { lawful_basis: 'legitimate_interest' },
    'contract',
    SAID,
    { basis_note: 'Fair' },
  ],
  [
    'a legitimate interest with a note, nothing',
    { lawful_basis: 'legitimate_interest', basis_note: 'Own' },
    'contract',
    SAID,
    {},
  ],
])('of the lawful basis of an import goes to %s', (_, row, lawful_basis, said, taken) => {
  expect(basisDefaults(row, { lawful_basis, ...said })).toEqual(taken)
})
