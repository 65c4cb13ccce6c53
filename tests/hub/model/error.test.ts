import { expect, test } from 'vitest'
import { verbatim } from '../../../hub/i18n/words.ts'
import { ContextLengthError, cancelled, ModelError, noModel } from '../../../hub/model/error.ts'

test.each([
  ['starting', true],
  ['unreachable', true],
  ['crashed', true],
  ['no_model', false],
  ['invalid_output', false],
  ['out_of_budget', false],
  ['cancelled', false],
  ['too_long', false],
] as const)('whether a call that is %s may succeed later by itself: %s', (reason, may) => {
  const cause = new Error('below')
  const error = new ModelError(reason, verbatim('No.'), { cause })
  expect(error).toMatchObject({ reason, is_retryable: may, message: 'No.', cause })
  expect(error.tokens).toEqual({ prompt: 0, completion: 0 })
  expect(error.excess_tokens).toBeUndefined()
  expect(new ModelError(reason, verbatim('No.'), { is_retryable: !may }).is_retryable).toBe(!may)
})

test('without a model one is asked for, unless it is known what is wrong', () => {
  expect(noModel()).toMatchObject({
    reason: 'no_model',
    message: 'No model is set up. Choose one in Settings > Models.',
  })
  expect(noModel(verbatim('The file is gone.'))).toMatchObject({
    reason: 'no_model',
    message: 'The file is gone.',
  })
})

test('a cancelled call keeps what cancelled it', () => {
  const cause = new Error('left')
  expect(cancelled(cause)).toMatchObject({ reason: 'cancelled', cause, is_retryable: false })
})

test('a prompt that does not fit tells its numbers, in both languages', () => {
  const numbers = { prompt_tokens: 900, max_tokens: 200, context_size: 1024 }
  const error = new ContextLengthError(numbers)
  expect(error).toMatchObject(numbers)
  for (const words of Object.values(error.words))
    expect(words).toMatch(/900.*200.*1024|1024.*900.*200/)
})
