import { MockAgent } from 'undici'

export const settings = { url: 'https://lists.demir.example', user: 'hub', token: 'secret' }

export type Answer = { status?: number; data?: unknown; raw?: string; error?: unknown }

/** A listmonk that gives these answers one after another, and what it was asked. */
export function answering(...answers: (Answer | unknown[])[]) {
  const asked: unknown[] = []
  const headers: unknown[] = []
  const agent = new MockAgent()
  agent.disableNetConnect()
  const next = answers.map((one): Answer => (Array.isArray(one) ? { data: one[0] } : one))
  agent
    .get(settings.url)
    .intercept({ path: () => true, method: /^/ as never }) // safe: a pattern fits every method
    .reply((given) => {
      const path = decodeURIComponent(String(given.path).replaceAll('+', ' '))
      const body = typeof given.body === 'string' ? [JSON.parse(given.body)] : []
      asked.push([`${given.method} ${path.replace(/^\/api/, '')}`, ...body])
      headers.push(given.headers)
      const { status = 200, data, raw, error } = next.shift() ?? { status: 500 }
      if (error !== undefined) throw error
      return { statusCode: status, data: raw ?? JSON.stringify({ data }) }
    })
    .persist()
  return { asked, headers, options: { dispatcher: agent } }
}

export const list = (more: object = {}) => ({
  id: 7,
  uuid: 'u',
  name: 'Demir',
  type: 'private',
  optin: 'single',
  tags: null,
  ...more,
})
export const person = (more: object = {}) => ({
  id: 3,
  uuid: 'u',
  email: 'jo@client.example',
  name: 'Jo',
  status: 'enabled',
  updated_at: '2026-11-29T10:00:00Z',
  ...more,
})
export const campaign = (more: object = {}) => ({
  id: 5,
  uuid: 'u',
  name: 'Spring',
  subject: 'S',
  status: 'draft',
  to_send: 0,
  sent: 0,
  views: 0,
  clicks: 0,
  updated_at: '2026-11-29T10:00:00Z',
  ...more,
})
export const rendered = { subject: 'A {{ x }}', html: '<p>A</p>', text: 'B {{ y }}', bytes: 8 }
export const input = {
  name: 'Spring',
  list_ids: [7],
  from_email: 'Ayşe <ayse@demir.example>',
  rendered,
  template_id: 2,
}
export const campaignBody = {
  name: 'Spring',
  subject: 'A {{ x }}',
  lists: [7],
  from_email: 'Ayşe <ayse@demir.example>',
  type: 'regular',
  content_type: 'html',
  body: '<p>A</p>',
  altbody: 'B {{ y }}',
  messenger: 'email',
  headers: [],
  template_id: 2,
  tags: ['watchpost'],
}

/** What fails on the way to a server, with the code that Node gives it. */
export const failed = (code: string) => Object.assign(new Error('It failed.'), { code })

/** What the hub's API user needs, in the order in which it is tried. */
export const PERMISSIONS = [
  'lists:get_all',
  'lists:manage_all',
  'subscribers:get_all',
  'subscribers:sql_query',
  'subscribers:manage',
  'campaigns:get_all',
  'campaigns:manage_all',
  'campaigns:send',
  'tx:send',
  'bounces:get',
  'templates:get',
  'templates:manage',
]
