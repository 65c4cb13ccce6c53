import { expect, test } from 'vitest'
import type { MissionInput } from '../../../hub/agents/agent.ts'
import type { Page } from '../../../hub/reader/web-reader.ts'
import { runAlone } from './run-alone.ts'

const LEAD = {
  id: '22222222-2222-4333-8444-555555555555',
  name: null,
  email: null as string | null,
  company: 'Demir',
  title: null,
  website: null as string | null,
  country: null,
  language: null,
  stage: 'new',
}
const TEXT = 'Demir runs forty trucks in the town of Bursa.'

/** What is read, asked and told of the sites that a task or its input names. */
async function visited(
  task: string,
  given: {
    input?: MissionInput
    lead?: Partial<typeof LEAD>
    pages?: Record<string, Partial<Page>>
    /** The lead whose domain it is. */
    bound?: string[]
  } = {},
) {
  const read: string[] = []
  const lead = given.lead && { ...LEAD, ...given.lead }
  const log = await runAlone(
    {
      agent: 'web_research',
      task: { en: task, tr: task },
      input: { ...given.input, ...(lead ? { lead_ids: [lead.id] } : {}) },
      rows: [
        [/^select id, name, email.*from hub\.leads/, lead ? [lead] : []],
        [/domain = \?/, (given.bound ?? []).map((id) => ({ id }))],
      ],
      answers: new Proxy(
        {},
        { get: () => ({ facts: [{ fact: 'Has trucks', quote: 'runs forty trucks' }] }) },
      ),
      more: {
        reader: {
          isThere: async () => true,
          read: async (url) => {
            read.push(url)
            const page = given.pages?.[url]
            return { page: { url, title: 'A page', text: TEXT, links: [], ...page } }
          },
        },
      },
    },
    'en',
  )
  return {
    log,
    read,
    asked: [...log.matchAll(/asks the model for facts (\S+):/g)].map((m) => m[1]),
  }
}

test.each<[task: string, read: string[]]>([
  ['read http://demir.example.', ['http://demir.example']],
  ['read HTTPS://demir.example/a?!...', ['HTTPS://demir.example/a']],
  ['read www.demir.example, (www.kaya.example) and see', ['https://www.demir.example', 'https://www.kaya.example']],
  ['read "www.demir.example" and https://www.demir.example/more', ['https://www.demir.example']],
  ['read https://:80 and www.demir.example', ['https://www.demir.example']],
  ['read www.a.example?see=https://b.example', ['https://www.a.example?see=https://b.example']],
])('“%s” has its addresses read, each site once', async (task, read) => {
  expect((await visited(task)).read).toEqual(read)
}) // biome-ignore format: a table

test('addresses of the input come before those of the task, three at most', async () => {
  const sites = (n: number) => Array.from({ length: n }, (_, at) => `www.s${at}.example`)
  const three = await visited(sites(2).join(' '), { input: { urls: ['https://x.example'] } })
  expect(three.read).toEqual([
    'https://x.example',
    'https://www.s0.example',
    'https://www.s1.example',
  ])
  expect(three.log).not.toContain('leaves out')
  const four = await visited(sites(4).join(' '))
  expect(four.read).toHaveLength(3)
  expect(four.log).toMatch(/leaves out: .*3.*4/)
  // A site is called by its name without www, and no other part of it is left out.
  expect((await visited('www.all-www.example')).log).toContain('Profile: all-www.example')
})

test.each<[string, Partial<typeof LEAD>, string[]]>([
  ['its website', { website: 'https://demir.example/x' }, ['https://demir.example/x']],
  ['that of its address', { email: 'ayse@demir.example' }, ['https://demir.example']],
  ['its website before its address', { website: 'https://a.example', email: 'x@b.example' }, ['https://a.example']],
])('of a lead the site is %s', async (_, lead, read) => {
  expect((await visited('look into it', { lead })).read).toEqual(read)
}) // biome-ignore format: a table

test('a lead with the address of a mail provider has no site', async () => {
  const { log, read } = await visited('look into it', { lead: { email: 'ayse@gmail.com' } })
  expect(read).toEqual([])
  expect(log).toMatch(/^fails: /m)
})

test('a page is evidence of a lead with its domain alone', async () => {
  const pages = (url: string) => ({ 'https://demir.example': { url } })
  const website = 'https://demir.example'
  const bound = async (url: string, lead: Partial<typeof LEAD> = {}) => {
    const { log } = await visited('look', { lead: { website, ...lead }, pages: pages(url) })
    return [log.includes(`"${LEAD.id}"\n  "Has trucks"`), log.includes('no lead has this domain')]
  }
  expect(await bound('https://www.demir.example/')).toEqual([true, false])
  expect(await bound('https://kaya.example/')).toEqual([false, true])
  expect(await bound('https://kaya.example/', { email: 'x@kaya.example' })).toEqual([true, false])
  const { log } = await visited('read www.demir.example', { bound: [LEAD.id] })
  expect(log).not.toContain('no lead has this domain')
  expect(log).toContain(`"leads": [\n      "${LEAD.id}"\n    ]`)
  expect((await visited('read www.demir.example')).log).toContain(
    'https://www.demir.example: no lead has this domain',
  )
})

test('of a site three more pages are read, those that its first page links to and that are about it', async () => {
  const home = 'https://demir.example/'
  const link = (path: string, text = '') => ({ url: new URL(path, home).href, text })
  const first = {
    url: home,
    links: [
      link('#about'),
      { url: 'no address at all: about', text: 'About' },
      link('https://kaya.example/about'),
      link('/prices'),
      link('/about#team'),
      link('/about'),
      link('/x', 'Hakkımızda'),
      link('/50%-indirim'),
      link('/ileti%C5%9Fim'),
      link('/services'),
    ],
  }
  const more = { links: [link('/company')] }
  const { read, asked } = await visited(`read ${home}`, {
    pages: { [home]: first, [`${home}about`]: more },
  })
  expect(read).toEqual([home, `${home}about`, `${home}x`, `${home}ileti%C5%9Fim`])
  expect(asked).toEqual(['1.1', '1.2', '1.3', '1.4'])
  const few = { [home]: { url: home, links: [link('/about')] }, [`${home}about`]: more }
  expect((await visited(`read ${home}`, { pages: few })).read).toEqual([home, `${home}about`])
})

test.each([
  [39, []],
  [40, ['1.1']],
])('a page of %i characters says enough: %j', async (length, asked) => {
  const url = 'https://demir.example'
  const done = await visited(`read ${url}`, { pages: { [url]: { text: 'x'.repeat(length) } } })
  expect(done.asked).toEqual(asked)
})
