import { expect, test } from 'vitest'
import { methodOf, problems, sessionProblems } from '../../functions/http.ts'
import { pagePolicy, policyText } from '../../functions/policy.ts'

test('a page may load files of its own alone', () => {
  expect(policyText(pagePolicy({})).split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ])
})

test('and besides what it was given: where to ask, images, and a form', () => {
  const given = {
    form_action: "'self'" as const,
    connect: ['https://auth.example.com'],
    images: ['https://tiles.example.com'],
  }
  expect(policyText(pagePolicy(given)).split('; ')).toEqual(
    expect.arrayContaining([
      "img-src 'self' data: https://tiles.example.com",
      "connect-src 'self' https://auth.example.com",
      "form-action 'self'",
    ]),
  )
})

test.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
  'the method %s is known',
  (method) => {
    expect(methodOf(method)).toBe(method)
  },
)

test.each(['get', 'TRACE', 'X', ''])('the method %j is not', (method) => {
  expect(methodOf(method)).toBeUndefined()
})

test('a route with a key can be refused in seven ways and its own; one of the account needs no plan', () => {
  const usual = ['400', '401', '402', '403', '429', '500', '503']
  expect(Object.keys(problems())).toEqual(usual)
  expect(Object.keys(problems(404, 400))).toEqual([
    ...['400', '401', '402', '403', '404', '429', '500', '503'],
  ])
  expect(Object.keys(sessionProblems())).toEqual(usual.filter((status) => status !== '402'))
})
