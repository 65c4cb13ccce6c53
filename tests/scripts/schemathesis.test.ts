import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTarget } from '../../scripts/proof/schemathesis-target.ts'

test('what the proof aims schemathesis at has a key, a session, teams and alerts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'watchpost-target-'))
  const target = await startTarget(folder)
  try {
    const ask = async (path: string, credential: string) => {
      const headers = { Authorization: `Bearer ${credential}` }
      const answer = await fetch(`${target.url}/api/v1${path}`, { headers })
      return [answer.status, await answer.json()]
    }
    const { key, session, ids } = target
    expect(await ask('/me', key)).toMatchObject([200, { plan: 'pro', scopes: ['read', 'write'] }])
    expect(await ask('/account', session)).toMatchObject([200, { account: { plan: 'pro' } }])
    expect(await ask(`/orgs/${ids.teams[0]}/members`, key)).toMatchObject([
      200,
      { members: [{}, {}] },
    ])
    expect(await ask(`/account/orgs/${ids.clubs[0]}`, session)).toMatchObject([200, { org: {} }])
    expect(await ask(`/alerts/${ids.alerts[0]}`, key)).toMatchObject([200, { alert: {} }])
  } finally {
    await target.stop()
    await rm(folder, { recursive: true, force: true })
  }
}, 90_000)
