import { expect, test } from 'vitest'
import {
  DiscardBody,
  OperatorAccount,
  PlanBody,
  RedriveBody,
} from '../../../shared/schemas/operator.ts'

const ACCOUNT = {
  ...{ user_id: '00000000-0000-4000-8000-000000000001', email: 'a@example.com', plan: 'pro' },
  ...{ keys: '2', zones: 1, channels: 0, organisations: null, last_used_at: null },
  ...{ banned_until: null, signed_up_at: new Date('2026-01-31T00:00:00Z') },
}

test('an answer has what its schema names, and nothing else', () => {
  expect(OperatorAccount.parse({ ...ACCOUNT, key_hash: 'secret' })).toEqual({
    ...ACCOUNT,
    keys: 2,
    signed_up_at: '2026-01-31T00:00:00.000Z',
  })
})

test('a body has no other fields, and a reason is a sentence', () => {
  expect(PlanBody.safeParse({ plan: 'gold' }).success).toBe(false)
  expect(RedriveBody.safeParse({ jobs: [] }).success).toBe(false)
  expect(RedriveBody.parse({})).toEqual({})
  expect(DiscardBody.parse({ reason: ' Too old ' })).toEqual({ reason: 'Too old' })
  expect(DiscardBody.safeParse({ reason: '  ' }).success).toBe(false)
  expect(DiscardBody.safeParse({ reason: 'x'.repeat(201) }).success).toBe(false)
})
