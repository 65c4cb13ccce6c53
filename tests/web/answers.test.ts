import { beforeEach, expect, test, vi } from 'vitest'
import { connection, loadPart } from '../../web/shared/connection.ts'
import { explain } from '../../web/shared/errors.tsx'
import { answersOf, type ProblemDetails, ProblemError } from '../../web/shared/problem.ts'
import { reach, Unreachable } from '../../web/shared/reach.ts'

// Beside what is tested stands code that reads the browser's own language.
vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => null })
  vi.stubGlobal('document', { documentElement: {} })
})

const failed = { title: 'title', unreachable: 'unreachable', unknown: 'unknown' }
const request = new Request('http://localhost/')
const problem: ProblemDetails = {
  type: 'about:blank',
  title: 'Refused',
  status: 422,
  detail: 'Some fields are not valid.',
  code: 'invalid',
  request_id: 'r1',
}

beforeEach(() => {
  connection.set('ok')
  return () => vi.unstubAllGlobals()
})

test.each([
  ['no answer', () => Promise.reject(new TypeError('fetch failed'))],
  ['502', async () => new Response('', { status: 502 })],
  ['504', async () => new Response('', { status: 504 })],
])('after %s the connection is lost', async (_, fetch) => {
  vi.stubGlobal('fetch', fetch)
  await expect(reach(request)).rejects.toBeInstanceOf(Unreachable)
  expect(connection.get()).toBe('lost')
})

test('a server that was asked to restart may be away', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('fetch failed')))
  connection.set('restarting')
  await expect(reach(request)).rejects.toBeInstanceOf(Unreachable)
  expect(connection.get()).toBe('restarting')
})

test('what the page itself gave up is no lost connection', async () => {
  const given_up = AbortSignal.abort()
  await expect(reach(new Request(request, { signal: given_up }))).rejects.toThrow(/abort/i)
  expect(connection.get()).toBe('ok')
})

test('a part that cannot be fetched is fetched again when the server answers', async () => {
  const load = vi
    .fn<() => Promise<string>>()
    .mockRejectedValueOnce(new TypeError('Failed to fetch dynamically imported module'))
    .mockResolvedValueOnce('the page')
  const part = loadPart(load)
  await vi.waitFor(() => expect(connection.get()).toBe('lost'), 20_000)
  connection.set('restarting')
  expect(load).toHaveBeenCalledTimes(1)
  connection.set('ok')
  expect(await part).toBe('the page')
})

test('a part that the server does not have, or that fails by itself, is an error', async () => {
  const missing = vi.fn(() => Promise.reject(new TypeError('Failed to fetch')))
  const part = loadPart(missing)
  const thrown = expect(part).rejects.toThrow('Failed to fetch')
  await vi.waitFor(() => expect(connection.get()).toBe('lost'), 20_000)
  connection.set('ok')
  await thrown
  expect(missing).toHaveBeenCalledTimes(2)
  await expect(loadPart(() => Promise.reject(new RangeError('its own')))).rejects.toThrow('its own')
  expect(connection.get()).toBe('ok')
})

test('a refusal of the server itself passes', async () => {
  vi.stubGlobal('fetch', async () => new Response('', { status: 503 }))
  expect((await reach(request)).status).toBe(503)
})

test('a refusal is told and thrown; that of a proxy gets the form of a problem', async () => {
  const told: string[] = []
  const { ok } = answersOf({
    foreign: ({ status }) => ({ code: 'foreign', detail: `It was ${status}.` }),
    onProblem: ({ code }) => told.push(code),
  })
  const answer = (error: unknown, status: number) =>
    ok(Promise.resolve({ error, response: new Response(null, { status }) })).catch((thrown) =>
      thrown instanceof ProblemError ? thrown.problem : thrown,
    )
  expect(await answer(problem, 422)).toEqual(problem)
  expect(await answer('<html>', 413)).toMatchObject({
    code: 'foreign',
    status: 413,
    title: 'HTTP 413',
    detail: 'It was 413.',
  })
  expect(told).toEqual(['invalid', 'foreign'])
  const response = new Response(null, { status: 200 })
  expect(await ok(Promise.resolve({ data: 7, response }))).toBe(7)
})

test.each([
  ['name', { name: 'Required.' }, null],
  ['lead.name', { name: 'Required.' }, null],
  ['name.0', { name: 'Required.' }, null],
  ['rename', {}, 'rename: Required.'],
  ['', {}, 'Required.'],
])('a message at %j is shown at its field, or with the form', (path, fields, whole) => {
  const refusal = new ProblemError({ ...problem, errors: [{ path, message: 'Required.' }] })
  expect(explain(refusal, ['name'], { failed })).toEqual({ fields, whole })
})

test('a message is shown at the innermost field that its path names', () => {
  const errors = [{ path: 'steps.0.name', message: 'Required.' }]
  const refusal = new ProblemError({ ...problem, errors })
  const fields = (names: string[]) => explain(refusal, names, { failed }).fields
  expect(fields(['name', 'steps', 'steps.0.name'])).toEqual({ 'steps.0.name': 'Required.' })
})

test('an error without fields is shown with the form', () => {
  const whole = (error: unknown) => explain(error, ['name'], { failed }).whole
  expect(whole(new ProblemError(problem))).toBe(problem.detail)
  expect(whole(new Unreachable('away'))).toBe('unreachable')
  expect(whole(new Error('a fault of the page'))).toBe('unknown')
})
