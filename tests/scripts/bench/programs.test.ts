import { expect, test } from 'vitest'
import {
  cpuSecondsOf,
  findProgram,
  requestsPerSecond,
  transactionsPerSecond,
} from '../../../scripts/bench/programs.ts'

const WRK = `Running 2s test @ http://127.0.0.1:8787/api/v1/me
  1 threads and 16 connections
  2563 requests in 2.00s, 1.71MB read
Requests/sec:   1281.22
Transfer/sec:      0.86MB
`
const PGBENCH = `pgbench (18.4)
number of failed transactions: 0 (0.000%)
latency average = 2.431 ms
tps = 4113.527841 (without initial connection time)
`

test('what wrk has counted is read, unless something failed', () => {
  expect(requestsPerSecond(WRK)).toBe(1281.22)
  expect(() => requestsPerSecond(`${WRK}  Non-2xx or 3xx responses: 7\n`)).toThrow(
    'Non-2xx or 3xx responses: 7',
  )
  expect(() => requestsPerSecond(`  Socket errors: connect 0, read 3\n${WRK}`)).toThrow('read 3')
  expect(() => requestsPerSecond('unable to connect')).toThrow('unable to connect')
})

test('what pgbench has counted is read, unless something failed', () => {
  expect(transactionsPerSecond(PGBENCH)).toBe(4113.527841)
  expect(() =>
    transactionsPerSecond(`pgbench: error: client 0 aborted in command 5\n${PGBENCH}`),
  ).toThrow('client 0 aborted')
  expect(() => transactionsPerSecond('')).toThrow('pgbench did not measure')
})

test('a program is found in a folder beside the PATH, or not at all', () => {
  expect(findProgram('node')).toMatch(/\/node$/)
  expect(findProgram('bench.ts', ['scripts/b*'])).toBe('scripts/bench/bench.ts')
  expect(findProgram('no-such-program')).toBeUndefined()
})

test.runIf(process.platform === 'linux')('the CPU time of a process grows with its work', () => {
  const before = cpuSecondsOf(process.pid) ?? Number.NaN
  const until = process.cpuUsage().user + 50_000
  while (process.cpuUsage().user < until);
  expect(cpuSecondsOf(process.pid)).toBeGreaterThan(before)
  expect(cpuSecondsOf(2 ** 30)).toBeUndefined()
})
