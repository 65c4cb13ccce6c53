import { expect, test } from 'vitest'
import { hashOf } from '../../hub/hash.ts'

const ACTION = { do: 'add_prompt_rule', agent: 'sales', rule: 'Önce "kim karar verir?" diye sor.' }

test('an approval stays valid from one release to the next', () => {
  expect(hashOf({ do: 'read_web', urls: ['https://a.example/?q=ü'], pages: 3, deep: null })).toBe(
    'bcb13e8158df054bd8afdbabaaf50f2f95c7dfee5a2e7c7e7171b33889b48ef9',
  )
})

test('the order of fields and absent ones make no difference, anything else does', () => {
  const { rule, agent, ...rest } = ACTION
  expect(hashOf({ rule, agent, ...rest, note: undefined })).toBe(hashOf(ACTION))
  expect(hashOf({ ...ACTION, rule: `${rule} ` })).not.toBe(hashOf(ACTION))
  expect(hashOf({ ...ACTION, agent: null })).not.toBe(hashOf(ACTION))
  expect(hashOf(['a', 'b'])).not.toBe(hashOf(['b', 'a']))
})

test('what JSON cannot express has no hash, so it equals nothing', () => {
  expect(() => hashOf(undefined)).toThrow('a value of type undefined cannot be hashed')
})
