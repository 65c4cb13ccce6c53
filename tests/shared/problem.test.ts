import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { validator } from 'hono/validator'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  ApiError,
  answerProblem,
  CODES,
  codesOf,
  describeError,
  invalid,
  invalidInput,
  issuesOf,
  notFound,
  problemAnswers,
  problemOf,
  toApiError,
  tooLarge,
} from '../../shared/problem.ts'

const issue = (number: number) => ({ path: `a${number}`, code: 'custom', message: 'Wrong.' })
const issues = (count: number) => Array.from({ length: count }, (_, index) => issue(index))

describe('the codes of errors', () => {
  test('are those of one product, and those of both', () => {
    const [service, hub] = [codesOf('service'), codesOf('hub')]
    const shared = service.filter((code) => hub.includes(code))
    expect(service.slice(0, 5)).toEqual([
      ...['malformed', 'invalid_query', 'invalid_cursor', 'unauthenticated', 'plan_required'],
    ])
    expect(hub.filter((code) => !shared.includes(code))).toEqual([
      ...['read_only_key', 'license_limit', 'wrong_state', 'audience_changed'],
    ])
    expect(new Set([...service, ...hub])).toEqual(new Set(Object.keys(CODES)))
  })

  test.each([
    ['malformed', 400],
    ['read_only_key', 401],
    ['license_limit', 402],
    ['forbidden', 403],
    ['not_found', 404],
    ['method_not_allowed', 405],
    ['not_acceptable', 406],
    ['limit_reached', 409],
    ['cursor_expired', 410],
    ['version_mismatch', 412],
    ['too_large', 413],
    ['unsupported_media_type', 415],
    ['invalid', 422],
    ['rate_limited', 429],
    ['internal', 500],
    ['unavailable', 503],
  ] as const)('have a status: %s %d', (code, status) => {
    expect(CODES[code]).toBe(status)
  })
})

describe('a problem', () => {
  test('has its code in words as a title, and no errors unless there are some', () => {
    expect(problemOf(new ApiError('limit_reached', 'No more.'), 'r1')).toEqual({
      type: 'https://watchpost.dev/problems/limit_reached',
      title: 'Limit reached',
      status: 409,
      detail: 'No more.',
      code: 'limit_reached',
      request_id: 'r1',
    })
  })

  test('is in English where there are more languages', () => {
    const message = { en: 'Wrong.', tr: 'Yanlış.' }
    const error = new ApiError('version_mismatch', message, {
      issues: [{ path: 'a', code: 'custom', message }],
    })
    expect(error.message).toBe('Wrong.')
    expect(problemOf(error, 'r')).toMatchObject({
      title: 'Version mismatch',
      detail: 'Wrong.',
      errors: [{ path: 'a', code: 'custom', message: 'Wrong.' }],
    })
  })

  const answer = async (error: ApiError, headers?: Record<string, string>) => {
    const options = { realm: 'watchpost', body: { a: 1 }, ...(headers ? { headers } : {}) }
    const app = new Hono().get('/', (c) => answerProblem(c, error, options))
    const response = await app.request('/')
    return { status: response.status, headers: Object.fromEntries(response.headers) }
  }

  test('is answered in its form, with the headers of the error above all others', async () => {
    const error = new ApiError('conflict', '', { headers: { 'X-A': 'own' } })
    expect(await answer(error, { 'X-A': 'given', 'X-B': 'given' })).toEqual({
      status: 409,
      headers: { 'content-type': 'application/problem+json', 'x-a': 'own', 'x-b': 'given' },
    })
  })

  test('says how to sign in with 401, and when to come back with 503', async () => {
    expect((await answer(new ApiError('unauthenticated', ''))).headers).toMatchObject({
      'www-authenticate': 'Bearer realm="watchpost"',
    })
    expect((await answer(new ApiError('unavailable', ''))).headers).toMatchObject({
      'retry-after': '5',
    })
    const later = new ApiError('unavailable', '', { headers: { 'Retry-After': '60' } })
    expect((await answer(later)).headers).toMatchObject({ 'retry-after': '60' })
  })

  test('is documented once for each status, in order', () => {
    const schema = z.object({})
    const content = { 'application/problem+json': { schema } }
    const answers = problemAnswers([500, 418, 404, 404], { schema, meanings: { 404: 'Gone.' } })
    expect(Object.entries(answers)).toEqual([
      ['404', { description: 'Gone.', content }],
      ['418', { description: 'Refused.', content }],
      ['500', { description: 'Refused.', content }],
    ])
  })
})

describe('whatever is thrown', () => {
  test('stays as it is when it is for the caller', () => {
    const error = notFound()
    expect(toApiError(error)).toBe(error)
  })

  test.each([
    [new HTTPException(415), 'unsupported_media_type', 'Send the body as application/json.'],
    [new HTTPException(413), 'too_large', tooLarge().detail],
  ])('%s is told to the caller', (error, code, detail) => {
    expect(toApiError(error)).toMatchObject({ code, detail })
  })

  test.each([
    ['application/json', 'The body is not valid JSON.'],
    ['multipart/form-data', 'The form is damaged. Send it again.'],
    ['multipart/form-data; boundary=x', 'The form is damaged. Send it again.'],
  ])('a body that cannot be read as %s is told to the caller', async (type, detail) => {
    const target = type === 'application/json' ? 'json' : 'form'
    const read = validator(target, (value) => value)
    const app = new Hono().post('/', read, (c) => c.text('read'))
    app.onError((error, c) => {
      const { code, detail } = toApiError(error)
      return c.json({ code, detail })
    })
    const answer = await app.request('/', {
      ...{ method: 'POST', headers: { 'Content-Type': type }, body: '{"a":' },
    })
    expect(await answer.json()).toEqual({ code: 'malformed', detail })
  })

  test.each([new HTTPException(418), new Error('secret'), 'secret', undefined])(
    '%s is an internal error with its cause',
    (error) => {
      const told = toApiError(error)
      expect(told).toMatchObject({ code: 'internal', cause: error })
      expect(told.message).toMatch(/^Something went wrong on our side\. .*request_id\.$/)
    },
  )

  test('is logged with five lines of its stack', () => {
    const error = Object.assign(new TypeError('wrong'), { code: 'E1' })
    error.stack = ['TypeError: wrong', ...issues(9).map(({ path }) => `    at ${path}`)].join('\n')
    expect(describeError(error)).toEqual({
      ...{ name: 'TypeError', message: 'wrong', code: 'E1' },
      stack: ['at a0', 'at a1', 'at a2', 'at a3', 'at a4'],
    })
    expect(describeError(new Error('wrong'))).not.toHaveProperty('code')
    const bare = new Error('wrong')
    delete bare.stack
    expect(describeError(bare)).toEqual({ name: 'Error', message: 'wrong', stack: undefined })
    expect(describeError('wrong')).toEqual({ message: 'wrong' })
  })
})

describe('a mistake in a request', () => {
  test.each([
    ['json', 'invalid', 'The body has a mistake. See "errors".'],
    ['form', 'invalid', 'The body has a mistake. See "errors".'],
    ['query', 'invalid_query', 'The query has a mistake. See "errors".'],
    ['header', 'invalid_query', 'A header has a mistake. See "errors".'],
    ['param', 'not_found', 'There is no such thing, or it is not yours.'],
  ])('in its %s is %s', (target, code, detail) => {
    expect(invalidInput(target, issues(1))).toMatchObject({ code, detail })
  })

  test.each([
    [2, 2, 'The body has 2 mistakes. See "errors".'],
    [100, 100, 'The body has 100 mistakes. See "errors".'],
    [101, 100, 'The body has 101 mistakes. "errors" has the first 100 of them.'],
  ])('among %d is one of %d that are listed', (count, listed, detail) => {
    expect(invalid(issues(count))).toMatchObject({ detail, issues: issues(listed) })
  })

  test('is named by its path, and an unknown field by its name', () => {
    const schema = z.strictObject({ a: z.array(z.strictObject({ b: z.string().min(2) })) })
    const found = (value: object) => issuesOf(schema.safeParse(value).error ?? new z.ZodError([]))
    const unknown = (path: string, key: string) => ({
      path,
      code: 'unknown_field',
      message: `There is no field "${key}". Check its spelling or leave it out.`,
    })
    expect(found({ a: [{ b: 'x' }] })).toMatchObject([{ path: 'a.0.b', code: 'too_small' }])
    expect(found({ a: [], x: 1, y: 2 })).toEqual([unknown('x', 'x'), unknown('y', 'y')])
    expect(found({ a: [{ b: 'xx', c: 1 }] })).toEqual([unknown('a.0.c', 'c')])
  })

  test('tells nothing of what belongs to somebody else', () => {
    expect(notFound('zone').detail).toBe('There is no such zone, or it is not yours.')
    expect(tooLarge()).toMatchObject({
      code: 'too_large',
      detail: 'The body is over 2 MiB. Send a smaller one.',
    })
  })
})
