/** Whether a target of plain http leads only where the operator permits it. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { checkPlainHttp, plainHost } from '../../../../functions/channels/transport/plain-http.ts'
import { parseAllowList } from '../../../../functions/channels/transport/target.ts'

const allow = parseAllowList('10.0.0.0/8, 127.0.0.1, relay')
const TARGET = 'http://hooks.example.org:8080/in'

async function codes(target: string, resolve?: (host: string) => Promise<string[]>) {
  const issues = await checkPlainHttp(target, { allow, resolve })
  return issues.map(({ path, code }) => `${path} ${code}`)
}

describe('the name of a plain http target', () => {
  test.each<[string[], string[]]>([
    [['10.1.2.3'], []],
    [['10.1.2.3', '127.0.0.1'], []],
    [['10.1.2.3', '93.184.215.14'], ['target plain_http']],
    [['93.184.215.14', '10.1.2.3'], ['target plain_http']],
    [['192.168.0.1'], ['target plain_http']],
    [[], []],
  ])('that leads to %j: %j', async (addresses, expected) => {
    const asked: string[] = []
    const resolve = async (host: string) => {
      asked.push(host)
      return addresses
    }
    expect(await codes(TARGET, resolve)).toEqual(expected)
    expect(asked).toEqual(['hooks.example.org'])
  })

  test('is said, with what to do instead', async () => {
    const [issue] = await checkPlainHttp(TARGET, { allow, resolve: async () => ['1.1.1.1'] })
    expect(issue?.message).toBe(
      'Use https://. Plain http is only for addresses that the operator permits in ALLOW_PRIVATE_TARGETS, and hooks.example.org is at another one.',
    )
  })

  test('is accepted where it cannot be resolved: every connection judges it again', async () => {
    expect(await codes(TARGET)).toEqual([])
    expect(await codes(TARGET, () => Promise.reject(new Error('down')))).toEqual([])
  })
})

test.each([
  'https://hooks.example.org/in',
  'mqtts://hooks.example.org/in',
  'http://10.1.2.3/in',
  'http://93.184.215.14/in',
  'http://[::1]/in',
  'http://relay/in',
  'http://localhost/in',
  'http://a.localhost/in',
  'nothing',
])('%s needs no look at its addresses', async (target) => {
  const resolve = vi.fn(async () => ['1.1.1.1'])
  expect(await codes(target, resolve)).toEqual([])
  expect(resolve).not.toHaveBeenCalled()
  expect(plainHost(target, { allow })).toBeNull()
})

describe('a name server that does not answer', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('is waited for three seconds', async () => {
    const done = vi.fn()
    void codes(TARGET, () => new Promise(() => undefined)).then(done)
    await vi.advanceTimersByTimeAsync(2_999)
    expect(done).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(done).toHaveBeenCalledWith([])
  })

  test('and one that does leaves no timer behind', async () => {
    expect(await codes(TARGET, async () => ['10.0.0.1'])).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })
})
