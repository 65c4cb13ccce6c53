import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openReader } from '../../../hub/reader/web-reader.ts'
import { type Outside, startOutside } from '../support/outside.ts'

const LIMIT_MS = 120_000
const LEAD = 'http://lead.example.org'

let world: Outside
beforeAll(async () => {
  world = await startOutside()
})
afterAll(() => world.close())
beforeEach(() => {
  for (const list of [world.asked, world.dialled, world.looked_up, world.inside]) list.length = 0
  for (const name of Object.keys(world.sites)) delete world.sites[name]
})
const signal = () => AbortSignal.timeout(LIMIT_MS)

/** Every way by which a page makes a browser speak to somebody, all at an address. */
function waysTo(url: string): string {
  const ws = url.replace('http', 'ws')
  const { host } = new URL(url)
  return `
<link rel=stylesheet href="${url}/style"><link rel=prefetch href="${url}/prefetch">
<link rel=preconnect href="${url}"><link rel=dns-prefetch href="//${host}">
<link rel=preload as=script href="${url}/preload"><link rel=modulepreload href="${url}/module">
<link rel=icon href="${url}/icon"><link rel=manifest href="${url}/manifest">
<style>@import "${url}/import"; @font-face { font-family: f; src: url(${url}/font) } p { background: url(${url}/background); font-family: f }</style>
<img src="${url}/img"><img srcset="${url}/srcset 2x"><iframe src="${url}/iframe"></iframe>
<iframe srcdoc='<img src="${url}/srcdoc"><script src="${url}/srcdoc-script"></script>'></iframe>
<object data="${url}/object"></object><embed src="${url}/embed"><video src="${url}/video" autoplay></video>
<audio src="${url}/audio" autoplay></audio><svg><image href="${url}/svg"/><use href="${url}/use#x"/></svg>
<script src="${url}/script"></script><script type=module src="${url}/module-script"></script>
<form id=blank target=_blank method=post action="${url}/form"><input name=a value=b></form>
<form id=frame target=hidden method=post action="${url}/form-frame"></form><iframe name=hidden></iframe>
<a id=ping href="#" ping="${url}/ping">p</a>
<script>
  const url = ${JSON.stringify(url)}
  const quietly = (work) => { try { const p = work(); if (p && p.catch) p.catch(() => {}) } catch {} }
  quietly(() => fetch(url + '/fetch', { mode: 'no-cors' }))
  quietly(() => fetch(url + '/post', { method: 'POST', mode: 'no-cors', body: 'x', keepalive: true }))
  quietly(() => { const x = new XMLHttpRequest(); x.open('PUT', url + '/xhr'); x.send('x') })
  quietly(() => navigator.sendBeacon(url + '/beacon', 'x'))
  quietly(() => new WebSocket('${ws}/websocket'))
  quietly(() => new EventSource(url + '/events'))
  quietly(() => new WebTransport(url.replace('http:', 'https:') + '/transport'))
  quietly(() => navigator.serviceWorker.register('/worker.js'))
  quietly(() => new Worker(URL.createObjectURL(new Blob(['fetch("' + url + '/worker", {mode: "no-cors"}); new WebSocket("${ws}/worker-ws"); importScripts("' + url + '/worker-script")']))))
  quietly(() => new SharedWorker(URL.createObjectURL(new Blob(['fetch("' + url + '/shared", {mode: "no-cors"})']))))
  quietly(() => window.open(url + '/popup'))
  quietly(() => window.open(url + '/popup-noopener', '_blank', 'noopener'))
  quietly(() => { const w = window.open('about:blank'); w.location = url + '/popup-moved'; w.eval('fetch("' + url + '/popup-fetch", {mode: "no-cors"})') })
  for (const id of ['blank', 'frame']) quietly(() => document.getElementById(id).submit())
  quietly(() => document.getElementById('ping').click())
  quietly(() => {
    const peer = new RTCPeerConnection({ iceServers: [{ urls: ['stun:${host}', 'turn:${host}?transport=tcp'], username: 'a', credential: 'b' }] })
    peer.createDataChannel('x'); peer.createOffer().then((o) => peer.setLocalDescription(o))
  })
  quietly(() => { const s = document.createElement('script'); s.type = 'speculationrules'; s.text = JSON.stringify({ prefetch: [{ urls: [url + '/speculation'] }], prerender: [{ urls: [url + '/prerender'] }] }); document.head.append(s) })
</script>`
}

describe('a page in the browser', () => {
  test(
    'reaches nothing inside, by no way that a browser has, and sends nothing but GET',
    async () => {
      const port = world.inner_port
      world.sites['lead.example.org'] = {
        '/': `<title>Demir</title><p>Demir Lojistik, 40 araç.</p>
          ${waysTo(`http://127.0.0.1:${port}`)}<a id=save href="http://127.0.0.1:${port}/download" download>d</a>
          <script>document.getElementById('save').click()</script>`,
        '/worker.js': (_, response) => {
          response.setHeader('content-type', 'text/javascript')
          response.end(`fetch('http://127.0.0.1:${port}/service', {mode: 'no-cors'})`)
        },
        '/two': waysTo(`http://[::1]:${port}`),
        '/three': waysTo(LEAD.replace('lead', 'other')),
      }
      const reader = world.reader()
      expect(await reader.read(`${LEAD}/`, signal())).toMatchObject({
        page: { title: 'Demir', url: `${LEAD}/`, text: expect.stringContaining('40 araç') },
      })
      expect(await reader.read(`${LEAD}/two`, signal())).toHaveProperty('page')
      expect(world.inside).toEqual([])

      // What lies outside gets what a page needs to show its words, and no more.
      world.asked.length = 0
      expect(await reader.read(`${LEAD}/three`, signal())).toHaveProperty('page')
      const allowed = 'style import script module module-script preload fetch worker'.split(' ')
      const elsewhere = world.asked.filter((line) => line.includes('other.example.org'))
      expect(elsewhere).toContain('GET other.example.org/script')
      const beyond = elsewhere.filter(
        (line) => !allowed.some((name) => line === `GET other.example.org/${name}`),
      )
      expect(beyond).toEqual([])
      expect(world.dialled.filter((address) => address !== '93.184.215.14')).toEqual([])
    },
    LIMIT_MS,
  )

  test.each([
    ['location.replace', (to: string) => `<script>location.replace('${to}')</script>`],
    ['meta refresh', (to: string) => `<meta http-equiv=refresh content="0; url=${to}">`],
    [
      'a form',
      (to: string) =>
        `<form method=post action="${to}"></form><script>document.forms[0].submit()</script>`,
    ],
  ])(
    'is not led inside by %s',
    async (_, lead) => {
      const port = world.inner_port
      world.sites['lead.example.org'] = {
        '/': `<p>Demir Lojistik</p>${lead(`http://127.0.0.1:${port}/admin`)}`,
      }
      const reading = await world.reader().read(`${LEAD}/`, signal())
      expect(JSON.stringify(reading)).not.toContain('secret')
      expect(reading).toMatchObject({ page: { text: 'Demir Lojistik', url: `${LEAD}/` } })
      expect(world.inside).toEqual([])
    },
    LIMIT_MS,
  )

  test(
    'is followed outside, redirects and rules judged, and its source is what was fetched',
    async () => {
      world.sites['lead.example.org'] = {
        '/': '<p>Moving</p><script>location = "/old"</script>',
        '/old': (_, response) =>
          void response.writeHead(301, { location: 'http://new.example.org/home' }).end(),
        '/kept': '<p>Kept out</p><script>location = "http://new.example.org/private"</script>',
      }
      world.sites['new.example.org'] = {
        '/robots.txt': 'User-agent: *\nDisallow: /private',
        '/home': `<p>New home</p><script>history.pushState({}, '', '/about-us')</script>`,
        '/private': '<p>Private</p>',
      }
      const reader = world.reader()
      expect(await reader.read(`${LEAD}/`, signal())).toMatchObject({
        page: { text: 'New home', url: 'http://new.example.org/home' },
      })
      expect(await reader.read(`${LEAD}/kept`, signal())).toMatchObject({
        page: { text: 'Kept out', url: `${LEAD}/kept` },
      })
      expect(world.asked).not.toContain('GET new.example.org/private')
    },
    LIMIT_MS,
  )

  test(
    'cannot change how it is read, nor make the hub keep more than a page',
    async () => {
      world.sites['lead.example.org'] = {
        '/': `<title>${'t'.repeat(5000)}</title><p>Demir Lojistik</p><script>
          Object.defineProperty(HTMLElement.prototype, 'innerText', { get: () => 'forged' })
          String.prototype.slice = () => 'forged'
          Array.prototype.filter = () => [{ href: 'http://forged.example/', textContent: 'forged' }]
          document.querySelectorAll = () => [{ href: 'http://forged.example/', textContent: 'forged' }]
        </script>`,
        '/long': `<script>document.write('<p>' + 'many words '.repeat(2e5)); for (let i = 0; i < 1000; i++) document.write('<a href="/' + i + '">' + 'x'.repeat(500) + '</a>')</script>`,
      }
      const reader = world.reader()
      const reading = await reader.read(`${LEAD}/`, signal())
      expect(reading).toMatchObject({ page: { text: 'Demir Lojistik', links: [] } })
      expect(JSON.stringify(reading)).not.toContain('forged')
      const long = await reader.read(`${LEAD}/long`, signal())
      expect('page' in long && long.page.text.length).toBe(20_000)
      expect('page' in long && long.page.links.length).toBe(300)
    },
    LIMIT_MS,
  )

  test(
    'that never ends is ended',
    async () => {
      world.sites['lead.example.org'] = {
        '/': '<p>Hello</p><script src="/begun.js"></script><script>while (true) {}</script>',
      }
      // It has to come to the page, which on a busy machine takes longer than the start of the browser.
      for (const page_ms of [3_000, 10_000, 40_000]) {
        expect(await world.reader({ page_ms }).read(`${LEAD}/`, signal())).toMatchObject({
          refused: { en: expect.stringContaining('too long') },
        })
        if (world.asked.includes('GET lead.example.org/begun.js')) return
      }
      expect.unreachable('the page was never begun')
    },
    LIMIT_MS,
  )
})

describe('a reader that a page has taken over', () => {
  /** A program in place of ours that says these lines and gives back what it is answered. */
  async function lying(...lies: unknown[]) {
    const lines = [asking(`${LEAD}/`, 'document'), ...lies]
    const folder = await mkdtemp(join(tmpdir(), 'watchpost-liar-'))
    const program = join(folder, 'liar.mjs')
    await writeFile(
      program,
      `const lines = ${JSON.stringify(lines.map((line) => JSON.stringify(line)))}
      let heard = ''
      process.stdin.on('data', (data) => { heard += data; next() })
      let asked = 0
      function next() {
        const told = heard.split('\\n').length - 1
        while (asked < told && asked < lines.length) console.log(lines[asked++].replace('HEARD', () => JSON.stringify(heard).slice(1, -1).slice(-300)))
      }`,
    )
    world.sites['lead.example.org'] = { '/': '<p>Hello</p>' }
    const reading = await openReader({ ...world.options, program }).read(`${LEAD}/`, signal())
    await rm(folder, { recursive: true })
    return reading
  }
  const page = { url: `${LEAD}/`, title: '', text: 'HEARD', links: [] }
  const asking = (url: string, kind = 'fetch') => ({ type: 'get', id: 0, url, kind })

  test('gets nothing inside', async () => {
    for (const url of ['http://127.0.0.1/', 'http://169.254.169.254/', 'file:///etc/passwd']) {
      const reading = await lying(asking(url), { type: 'page', page })
      expect('page' in reading && reading.page.text).toContain('"refused"')
    }
    const fine = await lying(asking(`${LEAD}/`), { type: 'page', page })
    expect('page' in fine && fine.page.text).toContain('"got"')
    expect(world.inside).toEqual([])
  })

  test('cannot name a source that the hub did not fetch', async () => {
    for (const url of ['http://reuters.example/news', 'about:blank', 'file:///etc/passwd']) {
      expect(await lying({ type: 'page', page: { ...page, url } }), url).toHaveProperty('refused')
    }
    expect(await lying({ type: 'page', page: { ...page, url: `${LEAD}/invented` } })).toMatchObject(
      {
        page: { url: `${LEAD}/` },
      },
    )
  })

  test('cannot answer in another form, or without end', async () => {
    for (const wrong of [
      { type: 'page', page: { ...page, text: 'x'.repeat(20_001) } },
      { type: 'page', page: { ...page, links: Array(301).fill({ url: 'x', text: 'x' }) } },
      { type: 'get', id: 1, url: `${LEAD}/`, kind: 'post' },
      { type: 'shell', command: 'id' },
      'x'.repeat(1_100_000),
    ]) {
      expect(await lying(wrong)).toHaveProperty('refused')
    }
  })
})
