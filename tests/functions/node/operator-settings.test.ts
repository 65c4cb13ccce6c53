import { describe, expect, test } from 'vitest'
import { OPERATOR_VARIABLES, operatorOf } from '../../../functions/node/operator-settings.ts'

const read = (environment: Record<string, string>, port = 8787) =>
  operatorOf(OPERATOR_VARIABLES.parse(environment), { port })

describe('the operator page', () => {
  test('is at the port after the service’s, on this machine', () => {
    expect(read({})).toEqual({ host: '127.0.0.1', port: 8788, is_chosen: false })
    expect(read({}, 65_535)).toMatchObject({ port: 0, is_chosen: false })
  })

  test('is at the port that was chosen', () => {
    expect(read({ OPERATOR_HOST: '::1', OPERATOR_PORT: '9000' })).toEqual({
      ...{ host: '::1', port: 9000, is_chosen: true },
    })
  })

  test.each(['off', '0'])('is nowhere with %s', (word) => {
    expect(read({ OPERATOR_PORT: word })).toBeUndefined()
  })

  test.each(['0.0.0.0', '::', '10.0.0.1', 'watchpost.example.com'])(
    'is never at %s, and the refusal names ssh',
    (host) => {
      expect(() => read({ OPERATOR_HOST: host })).toThrow(/for this machine only\. .*ssh -L/)
    },
  )
})
