import { z } from 'zod'
import {
  type Answer,
  Kept,
  type Received,
  type Side,
  startDialogue,
  until,
} from './listmonk-dialogue.ts'

/**
 * Holds the same conversation with a listmonk: every call that the hub makes, and how each of them
 * is refused. Names in it hold the word of the run, so that a real one may be asked twice.
 */
export async function converse(side: Side): Promise<Answer[]> {
  const run = Date.now().toString(36)
  const { answers, text, call, get, post, put, remove, told, page } = startDialogue(side, run)
  const email = (name: string) => `${name}.${run}@client.example`
  const UNKNOWN = 999_999_999

  const people = (lists: unknown[]) => ({
    status: 'enabled',
    preconfirm_subscriptions: true,
    lists,
  })

  const list = (await post('a list', '/api/lists', {
    name: `First ${run}`,
    type: 'private',
    optin: 'single',
    tags: ['watchpost', `a tag-${run}`],
  })) as { id: number }
  const other = await post('another list', '/api/lists', {
    name: `Other ${run}`,
    tags: [`b-${run}`],
  })
  await get('lists with a tag', `/api/lists?tag=b-${run}`)
  await get('lists with both of two tags', `/api/lists?tag=a-tag-${run}&tag=b-${run}`)
  await get('a page of lists past the end', `/api/lists?tag=b-${run}&page=9&per_page=500`)
  await get('a list that is not there', `/api/lists/${UNKNOWN}`)
  await get('the list 0', '/api/lists/0')
  await post('a list without a name', '/api/lists', {})
  await post('a list of an unknown type', '/api/lists', { name: 'x', type: 'odd' })
  await remove('deletes a list that is not there', `/api/lists/${UNKNOWN}`)

  const unconfirmed = await post('a subscriber, not confirmed', '/api/subscribers', {
    email: email('Plain'),
    name: '',
    status: 'enabled',
    lists: [list.id],
  })
  await post('a subscriber, confirmed', '/api/subscribers', {
    ...people([list.id]),
    email: email('pre'),
    name: 'Pre Conf',
    attribs: { a: 1 },
  })
  await post('a subscriber who is there', '/api/subscribers', { email: email('PRE'), name: 'x' })
  await post('a subscriber without an address', '/api/subscribers', {})
  await post('a subscriber with a bad address', '/api/subscribers', { email: 'nobody', name: 'x' })
  await post('a subscriber of an unknown list', '/api/subscribers', {
    ...people([UNKNOWN]),
    email: email('strange'),
    name: 'Strange',
  })
  await post('a subscriber with an unknown status', '/api/subscribers', {
    email: email('odd'),
    name: 'x',
    status: 'odd',
  })
  const query = (expression: string) => `/api/subscribers?query=${encodeURIComponent(expression)}`
  await get('members', `/api/subscribers?list_id=${list.id}`)
  await get(
    'a page of members past the end',
    `/api/subscribers?list_id=${list.id}&page=9&per_page=500`,
  )
  await get('members of an unknown list', `/api/subscribers?list_id=${UNKNOWN}`)
  await get(
    'members who unsubscribed',
    `/api/subscribers?list_id=${list.id}&subscription_status=unsubscribed`,
  )
  await get('a search', query(`lower(subscribers.email) = '${email('pre')}'`))
  await get('a search that finds nobody', query("lower(subscribers.email) = 'none'"))
  await get('a search for nobody', query('false'))
  await get('a subscriber who is not there', `/api/subscribers/${UNKNOWN}`)

  const lists = (asked: string, body: Record<string, unknown>) =>
    put(asked, '/api/subscribers/lists', {
      ids: [unconfirmed.id],
      action: 'add',
      target_list_ids: [list.id],
      status: 'confirmed',
      ...body,
    })
  await lists('adds an unknown subscriber to a list', { ids: [UNKNOWN] })
  await lists('adds a subscriber to an unknown list', { target_list_ids: [UNKNOWN] })
  await lists('removes an unknown subscriber from a list', { ids: [UNKNOWN], action: 'remove' })
  await lists('adds nobody to a list', { ids: [] })
  await lists('adds a subscriber to no list', { target_list_ids: [] })
  await lists('does something odd with a list', { action: 'odd' })
  await lists('adds a subscriber with an odd status', { status: 'odd' })
  await lists('adds a subscriber, not confirmed', {
    target_list_ids: [other.id],
    status: undefined,
  })
  const plainOne = `/api/subscribers/${unconfirmed.id}`
  await get('the subscriber on both lists', plainOne)
  await lists('unsubscribes a subscriber', { action: 'unsubscribe' })
  await lists('adds a subscriber again who unsubscribed', {})
  await get('the subscriber, back on the list', plainOne)
  const change = { email: email('plain'), name: 'Changed', attribs: { x: 1 } }
  await put('changes a subscriber and leaves one list', plainOne, {
    ...change,
    status: 'enabled',
    lists: [other.id],
  })
  await lists('unsubscribes from the other list', {
    action: 'unsubscribe',
    target_list_ids: [other.id],
  })
  await put('changes a subscriber, all lists confirmed', plainOne, {
    ...change,
    ...people([list.id, other.id]),
  })
  await put('changes a subscriber without an address', plainOne, {})
  await put('changes a subscriber who is not there', `/api/subscribers/${UNKNOWN}`, {
    ...change,
    email: email('nowhere'),
    ...people([]),
  })
  await put('gives a subscriber the address of another', plainOne, {
    ...change,
    email: email('pre'),
    ...people([]),
  })

  const made = async (name: string) => {
    const input = { ...people([list.id, other.id]), email: email(name), name: 'Somebody' }
    return post(`a subscriber for ${name}`, '/api/subscribers', input)
  }
  /** What `change` does to a subscriber, and whether listmonk notes the time of it. */
  const changed = async (asked: string, { id }: Record<string, unknown>, change: () => unknown) => {
    const read = async () => {
      const answer = await fetch(`${side.url}/api/subscribers/${id}`, {
        headers: { authorization: `token ${side.user}:${side.token}` },
      })
      return z
        .object({ data: z.object({ updated_at: z.string(), status: z.string() }) })
        .parse(await answer.json()).data
    }
    const before = await read()
    await change()
    await until(async () => (await read()).status !== before.status)
    told(`${asked}: the time of the change`, (await read()).updated_at !== before.updated_at)
    await get(asked, `/api/subscribers/${id}`)
  }
  const blocked = await made('blocking')
  await changed('a subscriber who was blocked', blocked, () =>
    put('blocks a subscriber', '/api/subscribers/blocklist', { ids: [blocked.id] }),
  )
  await put('blocks an unknown subscriber', '/api/subscribers/blocklist', { ids: [UNKNOWN] })
  await put('blocks nobody', '/api/subscribers/blocklist', { ids: [] })
  await lists('adds a blocked subscriber', { ids: [blocked.id], target_list_ids: [other.id] })
  await get('a blocked subscriber after that', `/api/subscribers/${blocked.id}`)
  await remove('deletes a subscriber who is not there', `/api/subscribers/${UNKNOWN}`)

  await post('a template of nothing', '/api/templates', {})
  await post('a template without content', '/api/templates', {
    name: 'n',
    type: 'campaign',
    body: '',
  })
  await post('a mail without a subject', '/api/templates', { name: 'n', type: 'tx', body: 'x' })
  await post('a template of an odd type', '/api/templates', { name: 'n', type: 'odd', body: 'x' })
  const frame = await post('a template', '/api/templates', {
    name: `Frame ${run}`,
    type: 'campaign',
    body: '{{ template "content" . }}',
  })
  const single = await post('a template of mails', '/api/templates', {
    name: `Single ${run}`,
    type: 'tx',
    subject: '{{ .Tx.Subject }}',
    body: '{{ Safe .Tx.Data.html }}',
  })

  const input = {
    name: `Campaign ${run}`,
    subject: `Hello ${run}`,
    lists: [list.id],
    from_email: 'Ayşe <ayse@demir.example>',
    type: 'regular',
    content_type: 'html',
    body: '<p>Hello {{ .Subscriber.FirstName }}</p>',
    altbody: 'Hello',
    messenger: 'email',
    template_id: frame.id,
    tags: ['watchpost', 'two words'],
  }
  const refused: [string, Record<string, unknown>][] = [
    ['with a bad sender', { from_email: 'nobody' }],
    ['without lists', { lists: [] }],
    ['without a name', { name: '' }],
    ['without a subject', { subject: '' }],
    ['with an unknown function', { body: '{{ nope }}' }],
    ['with an unknown function in its subject', { subject: '{{ nope }}' }],
    ['by an unknown messenger', { messenger: 'pigeon' }],
  ]
  for (const [how, fields] of refused) {
    await post(`a campaign ${how}`, '/api/campaigns', { ...input, ...fields })
  }
  const odd: [string, Record<string, unknown>][] = [
    ['to an unknown list', { lists: [UNKNOWN] }],
    ['with an unknown template', { template_id: UNKNOWN }],
    ['without a template', { template_id: 0 }],
  ]
  for (const [how, fields] of odd) {
    const made = await post(`a campaign ${how}`, '/api/campaigns', { ...input, ...fields })
    await remove(`deletes the campaign ${how}`, `/api/campaigns/${made.id}`)
  }
  const campaign = await post('a campaign', '/api/campaigns', {
    ...input,
    tags: ['watchpost', `t-${run}`],
  })
  const path = `/api/campaigns/${campaign.id}`
  await get('the campaign', `${path}?no_body=true`)
  await get('campaigns with a tag', `/api/campaigns?tag=t-${run}&no_body=true`)
  await get('campaigns with both of two tags', `/api/campaigns?tag=t-${run}&tag=none&no_body=true`)
  await get('a page of campaigns past the end', `/api/campaigns?tag=t-${run}&page=9&per_page=500`)
  await get('a campaign that is not there', `/api/campaigns/${UNKNOWN}`)
  await put('the status of the campaign 0', '/api/campaigns/0/status', { status: 'paused' })
  await put('the status of no campaign', `/api/campaigns/${UNKNOWN}/status`, { status: 'running' })
  for (const status of ['odd', 'paused', 'cancelled', 'draft', 'scheduled']) {
    await put(`a draft becomes ${status}`, `${path}/status`, { status })
  }
  await put('changes a campaign', path, { ...input, subject: `Changed ${run}` })
  await put('changes no campaign', `/api/campaigns/${UNKNOWN}`, input)

  const empty = await post('an empty list', '/api/lists', { name: `Empty ${run}` })
  const gone = await post('a list that will go', '/api/lists', { name: `Gone ${run}` })
  const refusing = await post('a list of a bad address', '/api/lists', { name: `Refusing ${run}` })
  await post('a subscriber whose server refuses', '/api/subscribers', {
    ...people([refusing.id]),
    email: email('refuse'),
    name: 'Refuse',
  })
  const runs: [string, Record<string, unknown>][] = [
    ['to nobody', { lists: [empty.id] }],
    ['to a deleted list', { lists: [gone.id] }],
    ['to a refused address', { lists: [refusing.id] }],
    ['from a name with a comma', { from_email: 'Demir, Ltd. <ayse@demir.example>' }],
    ['from a name with a colon', { from_email: 'Sales: Demir <ayse@demir.example>' }],
    ['from a quoted name', { from_email: '"Demir, Ltd." <ayse@demir.example>' }],
    [
      'from an encoded name',
      { from_email: '=?UTF-8?Q?Demir=2C_=C5=9Eirket?= <ayse@demir.example>' },
    ],
  ]
  const started: [string, unknown][] = [['', campaign.id]]
  for (const [how, fields] of runs) {
    const subject = `Sent ${how} ${run}`
    const { id } = await post(`a campaign ${how}`, '/api/campaigns', {
      ...input,
      ...fields,
      subject,
    })
    started.push([` ${how}`, id])
  }
  await remove('deletes a list of a campaign', `/api/lists/${gone.id}`)
  for (const [how, id] of started) {
    await put(`starts a campaign${how}`, `/api/campaigns/${id}/status`, { status: 'running' })
  }
  const statusOf = async (id: unknown) => {
    const answer = await fetch(`${side.url}/api/campaigns/${id}?no_body=true`, {
      headers: { authorization: `token ${side.user}:${side.token}` },
    })
    return z.object({ data: z.object({ status: z.string() }) }).parse(await answer.json()).data
      .status
  }
  for (const [how, id] of started) {
    await until(async () => (await statusOf(id)) === 'finished')
    await get(`the end of a campaign${how}`, `/api/campaigns/${id}?no_body=true`)
  }
  await put('changes a finished campaign', path, input)
  for (const status of ['running', 'paused', 'cancelled', 'draft']) {
    await put(`a finished campaign becomes ${status}`, `${path}/status`, { status })
  }
  await remove('deletes a campaign', path)
  await remove('deletes a campaign that is not there', path)

  const mail = {
    subscriber_emails: [email('pre')],
    subscriber_mode: 'default',
    template_id: single.id,
    from_email: 'Ayşe <ayse@demir.example>',
    subject: `Mail ${run}`,
    data: { html: '<b>x</b>' },
    altbody: 'x',
    content_type: 'html',
    messenger: 'email',
    headers: [{ 'X-Test': '1' }],
  }
  const mails: [string, Record<string, unknown>][] = [
    ['', {}],
    [' to nobody', { subscriber_emails: [] }],
    [' to a stranger', { subscriber_emails: [email('stranger')] }],
    [' to a blocked subscriber', { subscriber_emails: [email('blocking')] }],
    [' to a refused address', { subscriber_emails: [email('refuse')] }],
    [' of an unknown template', { template_id: UNKNOWN }],
    [' of a template of campaigns', { template_id: frame.id }],
    [' from nobody', { from_email: 'nobody' }],
    [' from a name with a comma', { from_email: 'Demir, Ltd. <ayse@demir.example>' }],
    [' with an unknown function in its subject', { subject: '{{ nope }}' }],
  ]
  for (const [how, fields] of mails) await post(`a mail${how}`, '/api/tx', { ...mail, ...fields })
  const ours = () => side.received().filter(({ subject }) => subject.includes(run))
  // Mails leave after the answer; what does not come within this time does not come.
  await new Promise((resolve) => setTimeout(resolve, 500))
  const sorted = ours()
    .map((mail) => JSON.stringify(plainMail(mail, text)))
    .toSorted()
  told(
    'the mails that left',
    sorted.map((mail) => JSON.parse(mail)),
  )

  await get('bounces of an unknown campaign', `/api/bounces?campaign_id=${UNKNOWN}`)
  const wiped = await made('wiping')
  const uuid = `${wiped.uuid}`
  const [, quoted] = started.find(([how]) => how === ' from a quoted name') ?? []
  const { uuid: of } = await campaignOf(side, quoted)
  await page('unsubscribes by one click', `/subscription/${of}/${uuid}`, {
    'List-Unsubscribe': 'One-Click',
  })
  await get('a subscriber after one click', `/api/subscribers/${wiped.id}`)
  const leaving = await made('leaving')
  await changed('a subscriber who blocked us on the public page', leaving, () =>
    page('blocks us on the public page', `/subscription/${of}/${leaving.uuid}`, {
      blocklist: 'true',
    }),
  )
  await page('wipes oneself', `/subscription/wipe/${uuid}`, {})
  await get('a subscriber who wiped themself', `/api/subscribers/${wiped.id}`)

  const profile = await fetch(`${side.url}/api/profile`, {
    headers: { authorization: `token ${side.user}:${side.token}` },
  })
  const { user_role } = Kept.parse(Kept.parse(await profile.json()).data)
  const { permissions } = z.object({ permissions: z.array(z.string()) }).parse(user_role)
  told('the role of who asks sees all lists', permissions.includes('lists:get_all'))
  await call('no credentials', 'GET', '/api/lists', undefined, { authorization: '' })
  await call('wrong credentials', 'GET', '/api/lists', undefined, { authorization: 'token a:b' })
  await call('a session cookie', 'GET', '/api/lists', undefined, { cookie: 'session=1' })
  await get('what is not there', '/api/nothing')
  return answers
}

async function campaignOf({ url, user, token }: Side, id: unknown) {
  const answer = await fetch(`${url}/api/campaigns/${id}?no_body=true`, {
    headers: { authorization: `token ${user}:${token}` },
  })
  return Kept.parse(Kept.parse(await answer.json()).data)
}

function plainMail({ from, to, subject }: Received, text: (given: string) => string): Received {
  return { from: text(from), to: text(to), subject: text(subject) }
}
