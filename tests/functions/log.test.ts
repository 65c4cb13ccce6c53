import { expect, test, vi } from 'vitest'
import { consoleLog, createLog } from '../../functions/log.ts'

function written(form: 'json' | 'text', line: Record<string, unknown>): string {
  let text = ''
  createLog(form, (piece) => {
    text += piece
  })(line)
  return text
}

test('json is one line each, with the time', () => {
  const text = written('json', { msg: 'request', path: '/a\nb' })
  expect(text.match(/\n/g)).toHaveLength(1)
  expect(JSON.parse(text)).toEqual({
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    msg: 'request',
    path: '/a\nb',
  })
})

test.each([
  [
    'an alert',
    { msg: 'job', queue: 'match', source: 'usgs', alerts: 2, outcome: 'done' },
    'usgs: 2 alerts raised',
  ],
  [
    'a delivery',
    {
      msg: 'job',
      queue: 'deliver',
      kind: 'webhook',
      type: 'alert.raised',
      result: 'ok',
      status: 204,
      duration_ms: 7,
    },
    'alert.raised delivered by webhook (HTTP 204, 7 ms)',
  ],
  [
    'a delivery that failed',
    {
      msg: 'job',
      queue: 'deliver',
      kind: 'webhook',
      type: 'alert.raised',
      result: 'retry',
      error: 'No answer.',
    },
    'alert.raised not delivered by webhook: No answer.',
  ],
  ['new events', { msg: 'job', queue: 'ingest', source: 'usgs', inserted: 1 }, 'usgs: 1 new event'],
  [
    'a feed that fails',
    { msg: 'job', queue: 'ingest', source: 'usgs', feed_error: 'answered HTTP 500' },
    'usgs: answered HTTP 500',
  ],
  [
    'a job that fails',
    { msg: 'job', queue: 'match', outcome: 'failed', error: 'x' },
    'job of match failed: x',
  ],
  ['a fault', { msg: 'queue error', error: 'gone' }, 'queue error: gone'],
  ['what happens', { msg: 'running the jobs' }, 'running the jobs'],
  [
    'a heartbeat that nobody heard',
    { msg: 'heartbeat', error: 'No answer.' },
    'heartbeat: No answer.',
  ],
  [
    'a request that failed here',
    { msg: 'request', method: 'GET', path: '/api/v1/me', status: 500, request_id: 'r' },
    'GET /api/v1/me answered 500 (request r; set LOG=json for details)',
  ],
])('text tells %s in a sentence', (_, line, sentence) => {
  expect(written('text', line)).toMatch(/^\d\d:\d\d:\d\d {2}/)
  expect(written('text', line).slice(10)).toBe(`${sentence}\n`)
})

test.each([
  ['a request that went well', { msg: 'request', status: 404 }],
  ['a poll without news', { msg: 'job', queue: 'ingest', source: 'usgs', inserted: 0 }],
  ['a replay’s events', { msg: 'job', queue: 'ingest', source: 'usgs-replay', inserted: 9 }],
  ['a match without alerts', { msg: 'job', queue: 'match', source: 'usgs', alerts: 0 }],
  ['a heartbeat', { msg: 'heartbeat' }],
  ['a request without an answer', { msg: 'request', method: 'GET', path: '/' }],
  ['events that another job counts', { msg: 'job', queue: 'match', inserted: 3, alerts: 0 }],
  ['alerts that another job counts', { msg: 'job', queue: 'ingest', inserted: 0, alerts: 3 }],
  ['the result of another job', { msg: 'job', queue: 'purge', result: 'ok' }],
  ['a delivery that was skipped', { msg: 'job', queue: 'deliver', skipped: true }],
])('text says nothing of %s', (_, line) => {
  expect(written('text', line)).toBe('')
})

test('what one turn of the event loop logs is one write, and what the process ends with is not lost', async () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    const before = process.listeners('exit')
    const log = createLog('json')
    const [atExit] = process.listeners('exit').filter((listener) => !before.includes(listener))
    log({ msg: 'one' })
    log({ msg: 'two' })
    expect(write).not.toHaveBeenCalled()
    await new Promise(setImmediate)
    log({ msg: 'three' })
    atExit?.(0)
    const said = write.mock.calls.map(([text]) => String(text).match(/one|two|three/g))
    expect(said).toEqual([['one', 'two'], ['three']])
    if (atExit) process.off('exit', atExit)
  } finally {
    write.mockRestore()
  }
})

test('a platform that collects the console is given a line of JSON', () => {
  const write = vi.spyOn(console, 'log').mockReturnValue(undefined)
  try {
    consoleLog({ msg: 'one', path: '/a' })
    expect(write.mock.calls).toEqual([['{"msg":"one","path":"/a"}']])
  } finally {
    write.mockRestore()
  }
})
