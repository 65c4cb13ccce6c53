import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Invite } from '../../shared/schemas/account.ts'
import { Member } from '../../shared/schemas/organisation.ts'
import { expectProblem } from '../support/attacks/refusals.ts'
import { parsed, tokenOfInvite } from '../support/service.ts'
import { createStory } from '../support/story.ts'

const Invited = z.object({ member: Member, invite_url: z.url() })
const Invites = z.object({ invites: z.array(Invite) })
const Joined = z.object({ org: z.looseObject({ id: z.uuid(), role: z.string() }) })
const Members = z.object({ members: z.array(Member) })
const ACCEPT = '/api/v1/account/invites/accept'

const at = createStory()

/** Deniz runs a team and invites Ayşe, who has an account and is signed in. */
async function invited() {
  const deniz = await at.service.person()
  const org = await at.service.organisation(deniz)
  const ayse = await at.service.account()
  const session = await at.service.session(ayse)
  const members = `/api/v1/orgs/${org}/members`
  const answer = await at.service.request('POST', members, {
    key: deniz.key,
    body: { email: ayse.email },
  })
  return { deniz, org, ayse, session, members, ...parsed(answer, 201, Invited) }
}

const accept = (session: string, body: unknown) =>
  at.service.request('POST', ACCEPT, { key: session, body })

describe('Ayşe opens the link that Deniz sent her', () => {
  test('the page says how to accept, and the token has not reached the server', async () => {
    const { invite_url, session, org } = await invited()
    const { pathname, search, hash } = new URL(invite_url)
    expect([pathname, search]).toEqual(['/invite', ''])
    expect(hash.length).toBeGreaterThan(20)

    const page = await at.service.request('GET', pathname, { headers: { Accept: 'text/html' } })
    expect(page.status).toBe(200)
    expect(page.headers.get('Content-Type')).toContain('text/html')
    expect(page.text).toContain('Sign in with the invited address')
    expect(page.text).toContain(ACCEPT)
    const headers = { Accept: 'text/html', 'Accept-Language': 'tr-TR,tr;q=0.9' }
    const turkish = await at.service.request('GET', pathname, { headers })
    expect(turkish.text).toContain('<html lang="tr">')
    expect(turkish.text).toContain('Davet edilen adresle oturum açın.')
    expect(turkish.headers.get('Vary')).toContain('Accept-Language')
    const script = await at.service.request('GET', '/invite/page.js')
    expect([script.status, script.headers.get('Content-Type')]).toEqual([200, 'text/javascript'])

    const { status, body } = await accept(session, { token: tokenOfInvite(invite_url) })
    expect({ status, body }).toMatchObject({ status: 200, body: { org: { id: org } } })
  })

  test('a program that opens it is told the same in JSON', async () => {
    const { invite_url } = await invited()
    const answer = await at.service.request('GET', new URL(invite_url).pathname, {
      headers: { Accept: 'application/json' },
    })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ detail: expect.stringContaining(`POST https://`) })
    expect(answer.text).toContain(ACCEPT)
  })
})

describe('Ayşe lost the link', () => {
  test('she finds the invite in her account and accepts it by its id, once', async () => {
    const { member, org, session } = await invited()
    const listed = await at.service.request('GET', '/api/v1/account/invites', { key: session })
    const [invite] = parsed(listed, 200, Invites).invites
    expect(invite).toMatchObject({ id: member.id, org: { id: org } })
    const joined = await accept(session, { id: member.id })
    expect(parsed(joined, 200, Joined).org).toMatchObject({ id: org, role: 'member' })
    expectProblem(await accept(session, { id: member.id }), 404, 'not_found')
  })

  test('an id opens nothing to anybody else, nor after the invite has expired', async () => {
    const { member, session } = await invited()
    const mallory = await at.service.session(await at.service.account())
    expectProblem(await accept(mallory, { id: member.id }), 404, 'not_found')
    await at.query('update watchpost.members set invite_expires_at = now() where id = $1', [
      member.id,
    ])
    expectProblem(await accept(session, { id: member.id }), 404, 'not_found')
  })

  test.each([
    ['neither', {}],
    ['both', { token: 'x', id: '0b0f8a52-7f2f-4c7a-9f7e-3f3c2f0a1b2c' }],
  ])('a body with %s of the two is refused with what to send', async (_, body) => {
    const answer = await accept(await at.service.session(await at.service.account()), body)
    expectProblem(answer, 422, 'invalid')
    expect(answer.text).toContain('Send either \\"token\\"')
  })
})

test('Deniz sees when each invite expires, and nothing of the kind for those who joined', async () => {
  const { deniz, session, members, invite_url } = await invited()
  const expiries = async () => {
    const answer = await at.service.request('GET', members, { key: deniz.key })
    return parsed(answer, 200, Members).members.map(({ status, invite_expires_at }) => [
      status,
      invite_expires_at && Math.round((Date.parse(invite_expires_at) - Date.now()) / 86_400_000),
    ])
  }
  expect(await expiries()).toEqual([
    ['active', null],
    ['invited', 7],
  ])
  await accept(session, { token: tokenOfInvite(invite_url) })
  expect(await expiries()).toEqual([
    ['active', null],
    ['active', null],
  ])
})

test('an account on the Free plan is told what it can do', async () => {
  const { key } = await at.service.person({ plan: 'free' })
  const answer = await at.service.request('GET', '/api/v1/zones', { key })
  expectProblem(answer, 402, 'plan_required')
  expect(answer.body).toMatchObject({
    detail: expect.stringMatching(/Ask the operator .* export your data/),
  })
})
