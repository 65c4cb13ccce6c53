import { describe, expect, test } from 'vitest'
import { nodeSend } from '../../../../functions/channels/transport/send-node.ts'
import { workersSend } from '../../../../functions/channels/transport/send-workers.ts'
import {
  checkTarget,
  isPermitted,
  parseAllowList,
} from '../../../../functions/channels/transport/target.ts'
import {
  DNS_ANSWERS,
  type Meaning,
  PUBLIC_URLS,
  SPELLINGS,
} from '../../../support/attacks/spellings.ts'

const allow = parseAllowList('')
const post = (url: string) => ({ url, method: 'POST' as const, headers: {}, body: '{}' })
const VERDICT: Record<Meaning, string> = {
  address: 'private_address',
  name: 'private_name',
  resolves: 'ok',
  credentials: 'credentials',
  malformed: 'malformed',
}

test('there are 81 spellings', () => {
  expect(new Set(SPELLINGS.map(([url]) => url)).size).toBe(81)
})

describe('a webhook is never sent to', () => {
  const asked: string[] = []
  const resolve = async (host: string) => {
    asked.push(host)
    return DNS_ANSWERS[host] ?? ['93.184.215.14']
  }
  const node = nodeSend({ allow, resolve, timeout_ms: 2000 })
  const workers = workersSend({ allow })

  test.each(SPELLINGS)('%s (%s)', async (url, meaning) => {
    const result = checkTarget(url, { allow })
    expect(result.ok ? 'ok' : result.code).toBe(VERDICT[meaning])
    asked.length = 0
    expect(await node(post(url))).toMatchObject({ ok: false, failure: 'refused' })
    expect(asked).toHaveLength(meaning === 'resolves' ? 1 : 0)
    // Behind a name the platform itself leaves for the public internet only.
    if (meaning !== 'resolves') {
      expect(await workers(post(url))).toMatchObject({ ok: false, failure: 'refused' })
    }
  })

  test.each(Object.entries(DNS_ANSWERS))('%s, whose answer is %s', async (host) => {
    expect(await node(post(`https://${host}/`))).toMatchObject({ ok: false, failure: 'refused' })
  })
})

test('what is public is not refused', () => {
  for (const url of PUBLIC_URLS)
    expect(checkTarget(url, { allow }), url).toMatchObject({ ok: true })
  for (const address of ['93.184.215.14', '2606:4700::1', '64:ff9b::5db8:d70e']) {
    expect(isPermitted(address, { allow, host: 'example.org', is_plain: false }), address).toBe(
      true,
    )
  }
})
