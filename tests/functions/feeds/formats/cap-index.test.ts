import { describe, expect, test } from 'vitest'
import { isListed, readIndex } from '../../../../functions/feeds/formats/cap-index.ts'
import { parseXml } from '../../../../functions/feeds/formats/xml.ts'

const BASE = 'https://alerts.example/feeds/index.xml'
const read = (text: string) => readIndex(parseXml(text), BASE)
const at = (path: string, updated = '') => ({ url: `https://alerts.example/${path}`, updated })

describe('an Atom index', () => {
  const entry = (inside: string) => read(`<feed><title/><entry>${inside}</entry></feed>`)?.[0]

  test.each([
    ['<link href="a.xml"/>', at('feeds/a.xml')],
    ['<link href=" /a.xml#part "/>', at('a.xml')],
    ['<link rel="self" href="/self"/><link href="/a.xml"/>', at('a.xml')],
    ['<link href="/page"/><link type="application/cap+xml" href="/a.xml"/>', at('a.xml')],
    ['<link href="/page"/><link type="application/CAP" href="/a.xml"/>', at('a.xml')],
    ['<link href="/page"/><link type="application/capital" href="/b"/>', at('page')],
    ['<link href=" "/><link href="/a.xml"/>', at('a.xml')],
    ['<link href="/a"/><updated>2026-03-01</updated><pubDate>x</pubDate>', at('a', '2026-03-01')],
    [`<link href="/a"/><updated>${'9'.repeat(41)}</updated>`, at('a', '9'.repeat(40))],
    ['<link rel="self" href="/self"/>', null],
    ['<link type="application/cap+xml"/>', null],
    ['<link href="https://"/>', null],
    ['', null],
  ])('with the entry %s leads to the alert', (inside, link) => {
    expect(entry(inside)).toEqual(link)
  })
})

describe('an RSS index', () => {
  const item = (inside: string) => read(`<rss><channel><item>${inside}</item></channel></rss>`)?.[0]

  test.each([
    ['<link>/a.xml</link><pubDate>then</pubDate><date>x</date>', at('a.xml', 'then')],
    ['<link>/a.xml</link><dc:date>once</dc:date>', at('a.xml', 'once')],
    ['<link href="/a.xml"/>', at('a.xml')],
    ['<link/><enclosure url="/a.xml"/>', at('a.xml')],
    ['<link>/page</link><enclosure url="/a.xml" type="text/xml"/>', at('page')],
    ['<link>/page</link><enclosure url="/a.xml" type="application/cap+xml"/>', at('a.xml')],
    ['<link>/page</link><enclosure url="/a.xml" type="application/CAP+xml"/>', at('a.xml')],
    ['<enclosure type="application/cap+xml"/>', null],
    ['<title>none</title>', null],
  ])('with the item %s leads to the alert', (inside, link) => {
    expect(item(inside)).toEqual(link)
  })

  test('may have its items beside the channel, as in RSS 1.0', () => {
    const items = '<item><link>/a</link></item><item><link>/b</link></item>'
    expect(read(`<rdf:RDF><channel/>${items}</rdf:RDF>`)).toEqual([at('a'), at('b')])
  })
})

test('another document is no index, and an empty one has no entries', () => {
  expect(read('<html/>')).toBeNull()
  expect(read('<feed/>')).toEqual([])
  expect(read('<rss/>')).toEqual([])
})

test.each([
  ['https://alerts.example/a', true],
  ['http://plain.example:8080/b', true],
  ['http://plain.example/b', false],
  ['https://other.example/a', false],
  ['https://alerts.example.other.example/a', false],
  ['https://alerts.example:444/a', false],
  ['https://user@alerts.example/a', false],
  ['https://:secret@alerts.example/a', false],
  ['ftp://alerts.example/a', false],
])('whether an alert may be fetched from %s: %s', (url, may) => {
  const listed = ['https://alerts.example/index', 'http://plain.example:8080/']
  expect(isListed(new URL(url), listed)).toBe(may)
})
