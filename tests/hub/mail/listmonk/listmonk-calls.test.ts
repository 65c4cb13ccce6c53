import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Listmonk, listmonk } from '../../../../hub/mail/listmonk/listmonk.ts'
import { caller } from '../../../../hub/mail/listmonk/listmonk-call.ts'
import {
  type Answer,
  answering,
  campaign,
  campaignBody,
  failed,
  input,
  list,
  person,
  rendered,
  settings,
} from './listmonk-answering.ts'

const page = (results: unknown[] | null, total = results?.length ?? 0) => [{ results, total }]
const bounce = (more: object) => ({
  source: 'api',
  email: 'a@b.example',
  subscriber_id: 3,
  created_at: 'T',
  ...more,
})
const many = (count: number) => Array.from({ length: count }, () => person())
const BLOCKED = "query=subscribers.status = 'blocklisted'"

describe('a call', () => {
  type Case = [
    name: string,
    run: (client: Listmonk) => Promise<unknown>,
    answers: (Answer | unknown[])[],
    asked: unknown[],
    answer: unknown,
  ]
  const cases: Case[] = [
    [
      'for the version reads a bare answer',
      (client) => client.about(),
      [{ raw: '{"version": "v6"}' }],
      [['GET /about']],
      { version: 'v6' },
    ],
    [
      'for a list takes no tags for none',
      (client) => client.getList(7),
      [[list()]],
      [['GET /lists/7']],
      { ...list(), tags: [], subscriber_count: 0 },
    ],
    [
      'for a list by its tag takes the one that is there',
      (client) => client.ensureList({ name: 'N', tag: 't' }),
      [page([list({ id: 8 })])],
      [['GET /lists?tag=t&page=1&per_page=500']],
      expect.objectContaining({ id: 8 }),
    ],
    [
      'for a list by its tag makes one that is private and needs no opt-in',
      (client) => client.ensureList({ name: 'N', tag: 't' }),
      [page(null), [list()]],
      [
        ['GET /lists?tag=t&page=1&per_page=500'],
        [
          'POST /lists',
          {
            name: 'N',
            type: 'private',
            optin: 'single',
            tags: ['watchpost', 't'],
            description: '',
          },
        ],
      ],
      expect.objectContaining({ id: 7 }),
    ],
    [
      'says what a list is for',
      (client) => client.ensureList({ name: 'N', tag: 't', description: 'D' }),
      [page([]), [list()]],
      [expect.anything(), ['POST /lists', expect.objectContaining({ description: 'D' })]],
      expect.anything(),
    ],
    ['deletes a list', (client) => client.deleteList(7), [[true]], [['DELETE /lists/7']], true],
    [
      'deletes a subscriber',
      (client) => client.deleteSubscriber(3),
      [[true]],
      [['DELETE /subscribers/3']],
      true,
    ],
    [
      'deletes a campaign',
      (client) => client.deleteCampaign(5),
      [[true]],
      [['DELETE /campaigns/5']],
      true,
    ],
    [
      'finds a subscriber by an address in any case',
      (client) => client.findSubscriber("O'Neil@Client.example"),
      [[{ results: [person(), person({ email: "o'NEIL@client.example", id: 4 })] }]],
      [["GET /subscribers?query=lower(subscribers.email) = 'o''neil@client.example'"]],
      expect.objectContaining({ id: 4, attribs: {}, lists: [] }),
    ],
    [
      'finds no subscriber by the address of another one',
      (client) => client.findSubscriber('al@client.example'),
      [[{ results: [person()] }]],
      [expect.anything()],
      null,
    ],
    [
      'takes subscribers off a list',
      (client) => client.removeFromList([3, 4], 7),
      [[true]],
      [['PUT /subscribers/lists', { ids: [3, 4], action: 'remove', target_list_ids: [7] }]],
      true,
    ],
    [
      'blocks subscribers',
      (client) => client.blocklist([3]),
      [[true]],
      [['PUT /subscribers/blocklist', { ids: [3] }]],
      true,
    ],
    [
      'counts who is blocked',
      (client) => client.countBlocklisted(),
      [page([person()], 41)],
      [[`GET /subscribers?${BLOCKED}&page=1&per_page=1`]],
      41,
    ],
    [
      'counts who is on a list',
      (client) => client.countMembers(7),
      [page([person()], 42)],
      [['GET /subscribers?list_id=7&page=1&per_page=1']],
      42,
    ],
    [
      'reads all who are blocked, page after page',
      async (client) => (await client.blocklisted()).length,
      [page(many(500), 502), page(many(2), 502)],
      [
        [`GET /subscribers?${BLOCKED}&page=1&per_page=500`],
        [`GET /subscribers?${BLOCKED}&page=2&per_page=500`],
      ],
      502,
    ],
    [
      'asks for no page behind a full last one',
      async (client) => (await client.unsubscribed(7)).length,
      [page(many(500), 500)],
      [['GET /subscribers?list_id=7&subscription_status=unsubscribed&page=1&per_page=500']],
      500,
    ],
    [
      'asks for no page behind one that is not full',
      async (client) => (await client.unsubscribed(7)).length,
      [page(many(499), 600)],
      [expect.anything()],
      499,
    ],
    [
      'reads the members of a list with their subscription to it',
      (client) => client.listMembers(7),
      [
        page([
          person({
            lists: [
              { id: 6, name: 'A', subscription_status: 'confirmed' },
              { id: 7, name: 'B', tags: ['t'], subscription_status: 'unsubscribed' },
            ],
          }),
          person({ lists: [{ id: 7, name: 'B', subscription_status: 'confirmed' }] }),
          person({ id: 4, lists: [{ id: 7, name: 'B', subscription_status: 'strange' }] }),
          person({ id: 5, lists: null, attribs: null }),
        ]),
      ],
      [['GET /subscribers?list_id=7&page=1&per_page=500']],
      [
        expect.objectContaining({ subscription: 'unsubscribed' }),
        expect.objectContaining({ subscription: 'confirmed' }),
        expect.objectContaining({ subscription: 'unconfirmed' }),
        { subscriber: person({ id: 5, lists: [], attribs: {} }), subscription: null },
      ],
    ],
    [
      'takes the template of its kind that is there',
      (client) => client.ensureTemplate('tx'),
      [
        [
          [
            { id: 1, name: 'Watchpost letter', type: 'campaign' },
            { id: 2, name: 'Other', type: 'tx' },
            { id: 3, name: 'Watchpost letter', type: 'tx' },
          ],
        ],
      ],
      [['GET /templates?no_body=true']],
      3,
    ],
    [
      'makes the template of a single mail',
      (client) => client.ensureTemplate('tx'),
      [[[]], [{ id: 4, name: 'N', type: 'tx' }]],
      [
        expect.anything(),
        [
          'POST /templates',
          {
            name: 'Watchpost letter',
            type: 'tx',
            body: '{{ Safe .Tx.Data.html }}',
            subject: '{{ .Tx.Subject }}',
          },
        ],
      ],
      4,
    ],
    [
      'makes the template of a campaign',
      (client) => client.ensureTemplate('campaign'),
      [[[{ id: 3, name: 'Watchpost letter', type: 'tx' }]], [{ id: 5, name: 'N', type: 'c' }]],
      [
        expect.anything(),
        [
          'POST /templates',
          {
            name: 'Watchpost campaign',
            type: 'campaign',
            body: '{{ template "content" . }}',
            subject: '',
          },
        ],
      ],
      5,
    ],
    [
      'makes a campaign, as a draft',
      (client) => client.createCampaign(input),
      [[campaign()]],
      [['POST /campaigns', campaignBody]],
      { ...campaign(), bounces: 0, lists: [], tags: [], started_at: null },
    ],
    [
      'writes a campaign anew, with where replies go',
      (client) =>
        client.updateCampaign(5, { ...input, reply_to: 'r@demir.example', tags: ['more'] }),
      [[campaign({ bounces: 2, tags: ['a'], started_at: 'T', lists: [{ id: null, name: 'L' }] })]],
      [
        [
          'PUT /campaigns/5',
          {
            ...campaignBody,
            headers: [{ 'Reply-To': 'r@demir.example' }],
            tags: ['watchpost', 'more'],
          },
        ],
      ],
      campaign({ bounces: 2, tags: ['a'], started_at: 'T', lists: [{ id: null, name: 'L' }] }),
    ],
    [
      'reads a campaign without its text',
      (client) => client.getCampaign(5),
      [[campaign()]],
      [['GET /campaigns/5?no_body=true']],
      expect.objectContaining({ id: 5 }),
    ],
    [
      'finds the hub’s campaign by its name',
      (client) => client.findCampaign('Summer'),
      [page([campaign(), campaign({ id: 6, name: 'Summer' })])],
      [['GET /campaigns?tag=watchpost&no_body=true&page=1&per_page=500']],
      expect.objectContaining({ id: 6 }),
    ],
    [
      'finds no campaign by another name',
      (client) => client.findCampaign('Summ'),
      [page([campaign(), campaign({ id: 6, name: 'Summer' })])],
      [expect.anything()],
      null,
    ],
    [
      'starts a campaign',
      (client) => client.setCampaignStatus(5, 'running'),
      [[campaign({ status: 'running' })]],
      [['PUT /campaigns/5/status', { status: 'running' }]],
      { status: 'running' },
    ],
    [
      'sends a single mail, in which nothing is executed',
      (client) =>
        client.sendTransactional({
          email: 'jo@client.example',
          from_email: 'ayse@demir.example',
          rendered,
          headers: { 'X-A': '1', 'X-B': '2' },
          template_id: 2,
        }),
      [[true]],
      [
        [
          'POST /tx',
          {
            subscriber_emails: ['jo@client.example'],
            subscriber_mode: 'default',
            template_id: 2,
            from_email: 'ayse@demir.example',
            subject: 'A {{"{{"}} x }}',
            data: { html: '<p>A</p>' },
            altbody: 'B {{"{{"}} y }}',
            content_type: 'html',
            messenger: 'email',
            headers: [{ 'X-A': '1' }, { 'X-B': '2' }],
          },
        ],
      ],
      true,
    ],
    [
      'reads the bounces of one campaign',
      (client) => client.bounces(5),
      [
        page([
          bounce({ id: 1, type: 'hard', campaign: { id: 5, name: 'Spring' } }),
          bounce({ id: 2, type: 'soft', campaign: null }),
          bounce({ id: 3, type: 'complaint' }),
        ]),
      ],
      [['GET /bounces?campaign_id=5&page=1&per_page=500']],
      [
        expect.objectContaining({ type: 'hard', campaign: { id: 5, name: 'Spring' } }),
        expect.objectContaining({ type: 'soft', campaign: null }),
        bounce({ id: 3, type: 'complaint' }),
      ],
    ],
    [
      'reads all bounces',
      (client) => client.bounces(),
      [page([])],
      [['GET /bounces?page=1&per_page=500']],
      [],
    ],
  ]
  test.each(cases)('%s', async (_, run, answers, asked, answer) => {
    const server = answering(...answers)
    expect(await run(listmonk(settings, server.options))).toEqual(answer)
    expect(server.asked).toEqual(asked)
  })

  test.each(cases)('%s; lost, it is told by its name', async (_, run, answers, asked) => {
    const last = asked.at(-1)
    if (!Array.isArray(last)) return
    const call = String(last[0]).replace(/\?.*/, '')
    const server = answering(...answers.slice(0, -1), { error: failed('EPIPE') })
    await expect(run(listmonk(settings, server.options))).rejects.toMatchObject({
      kind: call.startsWith('GET') ? 'not_sent' : 'unclear',
      message: `${call}: no answer from listmonk (EPIPE)`,
    })
  })

  test('has the token, and names its kind of content only with a body', async () => {
    const server = answering([list()], [true])
    const client = listmonk(settings, server.options)
    await client.getList(7)
    await client.blocklist([3])
    const always = { authorization: 'token hub:secret', accept: 'application/json' }
    expect(server.headers).toEqual([always, { ...always, 'content-type': 'application/json' }])
  })

  test('repeats a parameter for each of its values', async () => {
    const server = answering(['x'])
    const call = caller(settings, server.options)
    const query = { id: [1, 2], no: undefined, yes: true }
    expect(await call('GET', '/lists', z.unknown(), { query })).toBe('x')
    expect(server.asked).toEqual([['GET /lists?id=1&id=2&yes=true']])
  })
})
