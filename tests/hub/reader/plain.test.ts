import { expect, test } from 'vitest'
import type { Got } from '../../../hub/reader/fetcher.ts'
import { plainPage } from '../../../hub/reader/plain.ts'
import { MAX_LINKS, MAX_TEXT_LENGTH, PageText } from '../../../hub/reader/wire.ts'

const got = (body: string | Buffer, content_type = 'text/html; charset=utf-8'): Got => ({
  url: 'https://demir.example/a/',
  status: 200,
  content_type,
  allow_origin: null,
  body: Buffer.from(body),
  is_cut: false,
})

test('a page without a browser is its title, its text and its links', () => {
  const page = plainPage(
    got(`<!doctype html><title>Demir &amp; Oğlu
      Lojistik</title><style>p{color:red}</style><script>document.write('evil')</script>
      <h1>Who we are</h1><p>We run <b>40</b>   lorries.</p><ul><li>Bursa</li></ul>
      <a href="../about?x=1&amp;y=2#team">About <i>us</i></a><a class='n' href='/iletisim'>İletişim</a>
      <a href="mailto:a@b.example">Mail</a><a href="javascript:alert(1)">x</a><a name="top">y</a>`),
  )
  expect(PageText.parse(page)).toEqual(page)
  expect(page).toEqual({
    url: 'https://demir.example/a/',
    title: 'Demir & Oğlu Lojistik',
    text: expect.stringMatching(/^Who we are\n\nWe run 40 lorries\.\n\n\s*\* Bursa\n\nAbout us/),
    links: [
      { url: 'https://demir.example/about?x=1&y=2#team', text: 'About us' },
      { url: 'https://demir.example/iletisim', text: 'İletişim' },
    ],
  })
  expect(page.text).not.toMatch(/evil|color/)
})

test.each([
  ['the header', 'text/html; charset=windows-1254', '<p>'],
  ['the page', 'text/html', '<meta charset="windows-1254"><p>'],
])('letters are read by the charset of %s', (_, type, head) => {
  // "Şişe" in windows-1254
  const body = Buffer.concat([Buffer.from(head), Buffer.from([0xde, 0x69, 0xfe, 0x65])])
  expect(plainPage(got(body, type)).text).toBe('Şişe')
})

test('a charset that does not exist is read as UTF-8, and plain text as it is', () => {
  expect(plainPage(got('<p>Şişe', 'text/html; charset=nonsense')).text).toBe('Şişe')
  expect(plainPage(got('a < b\n<script>', 'text/plain'))).toMatchObject({
    title: '',
    text: 'a < b\n<script>',
    links: [],
  })
})

test.each([
  ['<base href="/">', 'https://demir.example/team'],
  [
    "<base target='_top' href='https://www.demir.example/en/'>",
    'https://www.demir.example/en/team',
  ],
  ['<base target="_top">', 'https://demir.example/a/team'],
  ['<base href="http://[">', 'https://demir.example/a/team'],
])('links of a page with %s lead to %s', (base, url) => {
  expect(plainPage(got(`${base}<a href="team">Team</a>`)).links).toEqual([{ url, text: 'Team' }])
})

test('a page that wants to be too much is cut', () => {
  const link = (length: number) => `https://x.example/${'p'.repeat(length - 18)}`
  const page = plainPage(
    got(`<title>${'t'.repeat(300)}</title><p>${'word '.repeat(5000)}</p>
      <a href="${link(500)}">${'l'.repeat(100)}</a><a href="${link(501)}">long</a>
      ${'<a href="/x">y</a>'.repeat(400)}`),
  )
  expect([page.title.length, page.text.length, page.links.length]).toEqual([200, 20_000, 300])
  expect(page.links[0]).toEqual({ url: link(500), text: 'l'.repeat(80) })
  expect(page.links[1]?.text).toBe('y')
  const links = plainPage(got('<a href="/x">y</a>'.repeat(2 * MAX_LINKS))).links
  expect(links).toHaveLength(MAX_LINKS)
  const deep = plainPage(got(`${'<div>'.repeat(50_000)}deep`))
  expect(deep.text.length).toBeLessThan(10)
  expect(plainPage(got(`<p>${'word '.repeat(50_000)}`)).text.length).toBeLessThanOrEqual(
    MAX_TEXT_LENGTH,
  )
  expect(plainPage(got('<a '.repeat(100_000))).links).toEqual([])
})

test.each([
  ['a   b\t c', 'a b c'],
  ['\n\n a \n b \n', 'a\nb'],
  ['a\n\n\n\nb\n\nc', 'a\n\nb\n\nc'],
])('the plain text %j is read as %j', (body, text) => {
  expect(plainPage(got(body, 'text/plain')).text).toBe(text)
})

test.each([
  ['<p>x', ''],
  ['<title></title>', ''],
  ['<title lang="tr">Demir</title>', 'Demir'],
  ['<TITLE>Demir</TITLE><title>Kaya</title>', 'Demir'],
  ['<svg><title>Logo</title></svg><title>Demir</title>', 'Demir'],
  ['<title>&nbsp;Demir&nbsp;\n &nbsp;Kaya&nbsp;</title>', 'Demir Kaya'],
])('the title of %j is "%s"', (body, title) => {
  expect(plainPage(got(body)).title).toBe(title)
})

test.each([
  ['<a href="/x" class="b">y</a>', '/x'],
  ['<a href = "/x">y</a>', '/x'],
  ["<A HREF='/x'>y</A>", '/x'],
  ['<a\nhref="http://kaya.example/">y</a>', 'http://kaya.example/'],
  ['<a href="http://[">y</a>', undefined],
  ['<a href="xhttps://kaya.example/">y</a>', undefined],
  ['<a href="ftp://kaya.example/">y</a>', undefined],
  ['<a href=/x>y</a>', '/x'],
  ['<a data-href="/z" href="/x">y</a>', '/x'],
  ['<a title="1 > 0" href="/x">y</a>', '/x'],
  ['<a href="/x?a=1&#38;b=2">y</a>', '/x?a=1&b=2'],
  ['<a href="/x">y<style>a{}</style></a>', '/x'],
  ['<!-- <a href="/x">y</a> -->', undefined],
  ['<script>write(\'<a href="/x">y</a>\')</script>', undefined],
  ['<noscript><a href="/x">y</a></noscript>', undefined],
  ['<a data-href="/x">y</a>', undefined],
  ['<area href="/x">y', undefined],
  // Within the limit as it stands there, and beyond it as an address.
  [`<a href="/${'ş'.repeat(100)}">y</a>`, undefined],
])('the link of %j is %s', (body, link) => {
  const url = link && new URL(link, got('').url).href
  expect(plainPage(got(body)).links).toEqual(url ? [{ url, text: 'y' }] : [])
})

test('a text has the words of a link without its address, and a page is looked at up to half a million characters', () => {
  expect(plainPage(got('We are <a href="https://kaya.example/">Kaya</a>.')).text).toBe(
    'We are Kaya.',
  )
  const link = '<a href="/x">y</a>'
  const far = (at: number) => plainPage(got(`${' '.repeat(at)}${link}`)).links.length
  expect([far(500_000 - link.length), far(500_000)]).toEqual([1, 0])
})

test('the charset may stand between spaces and quotation marks', () => {
  const body = Buffer.from([0xde, 0x69, 0xfe, 0x65])
  expect(plainPage(got(body, 'text/html; charset = "windows-1254"')).text).toBe('Şişe')
})

test('of a page with very many tags the first 6,000 are looked at', () => {
  const page = (tags: number) =>
    plainPage(got(`<p>first</p><div>${'<i></i>'.repeat(tags)}</div><p>last`))
  expect(page(2997).text).toMatch(/last$/)
  expect(page(2998).text).toMatch(/^first\s+\.\.\.$/)
})
