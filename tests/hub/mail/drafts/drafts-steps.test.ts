import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STATES, type STEPS, type State } from '../../../../hub/mail/drafts/flow.ts'
import { startHub, type TestHub } from '../../support/hub.ts'
import { apiOf, LEAD, setBrand } from '../../support/mail-help.ts'
import { standForAll } from '../../support/stand.ts'

let hub: TestHub
let api: ReturnType<typeof apiOf>
let lead_id = ''
beforeAll(async () => {
  hub = await startHub({ config: { public_url: 'https://hub.demir.example' } })
  api = apiOf(hub)
  await api.ok('projects/create', { slug: 'demir', name: 'Demir Lojistik' })
  await setBrand(api)
  await api.put('settings/mail', {
    // Nobody listens there: in these tests nothing is sent.
    smtp: { host: '127.0.0.1', port: 9, security: 'none' },
    daily_cap: 1000,
    ramp: null,
  })
  const data = { name: 'Jo Öz', email: 'jo@client.example', company: 'Client', ...LEAD }
  lead_id = (await api.ok('lead/quick_add', { slug: 'demir', data })).lead.id
})
afterAll(() => hub.close())

const of = (id: string) => ({ id, project: 'demir' })
const create = async (): Promise<string> => {
  const made = await api.ok('draft/create', {
    project: 'demir',
    audience: { kind: 'lead', lead_id },
    subject: 'A short question',
    text: 'Hello Jo,\n\nwould you like to talk next week?\n\nKind regards',
  })
  return made.draft.id
}
const get = async (id: string) => (await api.get(`drafts/get?id=${id}&project=demir`)).body

/** A draft in that state, by the steps that lead there where there are any. */
async function draftIn(state: State): Promise<string> {
  const id = await create()
  const way: Partial<Record<State, string[]>> = {
    rendered: ['render'],
    approved: ['render', 'approve'],
    pushed: ['render', 'approve', 'push'],
    sending: ['render', 'approve', 'push', 'send'],
    rejected: ['reject'],
  }
  for (const step of way[state] ?? way.sending ?? []) {
    if (state !== 'draft') await api.ok(`draft/${step}`, of(id))
  }
  if (['sent', 'unclear', 'failed'].includes(state)) {
    await hub.query(
      'update hub.recipients set state = $2, claimed_at = now() where draft_id = $1',
      [id, state],
    )
    await hub.query('update hub.drafts set state = $2 where id = $1', [id, state])
  }
  return id
}

const ACTIONS = {
  edit: { path: 'draft/edit', more: { text: 'Another text.' }, to: 'draft' },
  redesign: { path: 'draft/redesign', more: {}, to: 'draft' },
  render: { path: 'draft/render', more: {}, to: 'rendered' },
  reject: { path: 'draft/reject', more: {}, to: 'rejected' },
  approve: { path: 'draft/approve', more: {}, to: 'approved' },
  push: { path: 'draft/push', more: {}, to: 'pushed' },
  send: { path: 'draft/send', more: {}, to: 'sending' },
  pause: { path: 'draft/pause', more: {}, to: 'sending' },
  resume: { path: 'draft/resume', more: {}, to: 'sending' },
  clear: { path: 'draft/clear', more: { outcome: 'sent' }, to: 'sent' },
} as const satisfies Record<keyof typeof STEPS, object>

/** What may follow what, written down once more and by hand. */
const ALLOWED: Record<State, string> = {
  draft: 'edit redesign render reject',
  rendered: 'edit redesign render reject approve',
  approved: 'edit redesign render reject push',
  pushed: 'edit redesign render reject send',
  sending: 'pause resume',
  sent: '',
  unclear: 'clear',
  rejected: 'edit redesign render',
  failed: 'edit redesign render reject',
}
const PAIRS = STATES.flatMap((state) =>
  (Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]).map((step) => ({
    // safe: its own keys
    state,
    step,
    isAllowed: ALLOWED[state].split(' ').includes(step),
  })),
)

/** The state of a draft in the words of a refusal. */
const IS: Record<State, string> = {
  draft: 'the draft is text only',
  rendered: 'waiting for approval',
  approved: 'already approved',
  pushed: 'ready to send',
  sending: 'being sent',
  sent: 'was sent',
  unclear: 'unclear whether the draft was sent',
  rejected: 'was rejected',
  failed: 'could not be sent',
}

describe('every step in every state', () => {
  test.each(PAIRS)('$step of a draft that is $state: allowed $isAllowed', async (pair) => {
    const { state, step, isAllowed } = pair
    const { path, more, to } = ACTIONS[step]
    const id = await draftIn(state)
    if (step === 'approve') await standForAll(api, of(id))
    const answer = await api.post(path, { ...of(id), ...more })
    const { draft } = await get(id)
    if (isAllowed) {
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
      expect(draft.state).toBe(to)
      return
    }
    expect(answer).toMatchObject({ status: 409, body: { code: 'wrong_state' } })
    expect(answer.body.detail).toContain(IS[state])
    expect(draft.state).toBe(state)
  })
})

test.each(['html', 'rendered_text', 'rendered_subject'])(
  'what would not look as it was shown is rendered again first: its %s',
  async (column) => {
    const id = await draftIn('rendered')
    await hub.query(`update hub.drafts set ${column} = ${column} || ' then' where id = $1`, [id])
    const { gates } = await get(id)
    expect(gates.find(({ name }: { name: string }) => name === 'rendering')).toMatchObject({
      ok: false,
      blocks: true,
      way_out: 'Render it again.',
    })
    await standForAll(api, of(id))
    expect(await api.post('draft/approve', of(id))).toMatchObject({ status: 409 })
    await api.ok('draft/render', of(id))
    await api.ok('draft/approve', of(id))
  },
)
